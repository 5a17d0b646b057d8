using System;
using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;
using Amazon.Lambda.Core;
using Amazon.Lambda.SQSEvents;
using Amazon.SQS;

/// <summary>Reports a failed batch. Call it where the handler catches an exception, then throw it again.</summary>
public static class Report
{
    private static readonly AmazonSQSClient Sqs = new AmazonSQSClient();

    public static Task SendAsync(Exception error, SQSEvent batch, ILambdaContext context)
    {
        var body = new
        {
            v = 1,
            kind = "error",
            request_id = context.AwsRequestId,
            function = context.InvokedFunctionArn,
            version = context.FunctionVersion,
            instance = context.LogStreamName,
            queue = batch.Records[0].EventSourceArn,
            failed_at = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(),
            error = new { type = error.GetType().FullName, message = Cut(error.Message, 3000), stack = Cut(error.ToString(), 6000) },
            messages = batch.Records.Select(record => new
            {
                id = record.MessageId,
                receives = int.Parse(record.Attributes["ApproximateReceiveCount"]),
            }),
        };
        return Sqs.SendMessageAsync(Environment.GetEnvironmentVariable("DLO_REPORTS"), JsonSerializer.Serialize(body));
    }

    private static string Cut(string text, int length) => text.Length <= length ? text : text.Substring(0, length);
}
