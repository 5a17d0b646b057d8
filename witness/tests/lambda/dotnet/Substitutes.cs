// Substitutes for the libraries that the example uses: as much of each as it calls. Mono has none of them.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Threading.Tasks;
using Amazon.Lambda.Core;
using Amazon.Lambda.SQSEvents;

namespace Amazon.Lambda.Core
{
    public interface ILambdaContext
    {
        string AwsRequestId { get; }
        string InvokedFunctionArn { get; }
        string FunctionVersion { get; }
        string LogStreamName { get; }
    }
}

namespace Amazon.Lambda.SQSEvents
{
    public class SQSEvent
    {
        public List<SQSMessage> Records { get; set; }

        public class SQSMessage
        {
            public string MessageId { get; set; }
            public string EventSourceArn { get; set; }
            public Dictionary<string, string> Attributes { get; set; }
        }
    }
}

namespace Amazon.SQS
{
    public class AmazonSQSClient
    {
        public Task SendMessageAsync(string queue, string body)
        {
            Console.WriteLine(body);
            return Task.CompletedTask;
        }
    }
}

namespace System.Text.Json
{
    // Names stay as they are, as with the library's own default options.
    public static class JsonSerializer
    {
        public static string Serialize(object value)
        {
            if (value == null) return "null";
            if (value is string) return Text((string)value);
            if (value is int || value is long) return Convert.ToString(value, CultureInfo.InvariantCulture);
            if (value is IEnumerable)
            {
                return "[" + string.Join(",", ((IEnumerable)value).Cast<object>().Select(Serialize)) + "]";
            }
            var members = value.GetType().GetProperties();
            return "{" + string.Join(",", members.Select(it => Text(it.Name) + ":" + Serialize(it.GetValue(value)))) + "}";
        }

        private static string Text(string text)
        {
            var characters = text.Select(c => c < ' ' || c == '"' || c == '\\' ? "\\u" + ((int)c).ToString("x4") : c.ToString());
            return "\"" + string.Concat(characters) + "\"";
        }
    }
}

public static class UseExample
{
    private class Context : ILambdaContext
    {
        public string AwsRequestId { get { return "request-1"; } }
        public string InvokedFunctionArn { get; set; }
        public string FunctionVersion { get { return "7"; } }
        public string LogStreamName { get { return "a-stream"; } }
    }

    public static void Main(string[] arguments)
    {
        var attributes = new Dictionary<string, string> { { "ApproximateReceiveCount", "2" } };
        var message = new SQSEvent.SQSMessage { MessageId = "m-0", EventSourceArn = arguments[0], Attributes = attributes };
        var batch = new SQSEvent { Records = new List<SQSEvent.SQSMessage> { message } };
        try
        {
            throw new InvalidOperationException("no \"price\"");
        }
        catch (Exception error)
        {
            Report.SendAsync(error, batch, new Context { InvokedFunctionArn = arguments[1] }).Wait();
        }
    }
}
