import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.events.SQSEvent.SQSMessage;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.sqs.SqsClient;

/** Reports a failed batch. Call it where the handler catches an exception, then throw the exception again. */
public final class Report {
    private static final SqsClient SQS = SqsClient.create();
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void send(Throwable error, List<SQSMessage> records, Context context) throws Exception {
        var stack = new StringWriter();
        error.printStackTrace(new PrintWriter(stack, true));
        Map<String, Object> body = Map.of(
                "v", 1,
                "kind", "error",
                "request_id", context.getAwsRequestId(),
                "function", context.getInvokedFunctionArn(),
                "version", context.getFunctionVersion(),
                "instance", context.getLogStreamName(),
                "queue", records.get(0).getEventSourceArn(),
                "failed_at", System.currentTimeMillis(),
                "error", Map.of(
                        "type", error.getClass().getName(),
                        "message", cut(String.valueOf(error.getMessage()), 3_000),
                        "stack", cut(stack.toString(), 6_000)),
                "messages", records.stream().map(record -> Map.of(
                        "id", record.getMessageId(),
                        "receives", Integer.parseInt(record.getAttributes().get("ApproximateReceiveCount")))).toList());
        var json = JSON.writeValueAsString(body);
        SQS.sendMessage(request -> request.queueUrl(System.getenv("DLO_REPORTS")).messageBody(json));
    }

    private static String cut(String text, int length) {
        return text.substring(0, Math.min(length, text.length()));
    }
}
