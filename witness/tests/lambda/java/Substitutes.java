// Substitutes for the libraries that the example uses: as much of each as it calls. Split at the marks into files.
//// com/amazonaws/services/lambda/runtime/Context.java
package com.amazonaws.services.lambda.runtime;

public interface Context {
    String getAwsRequestId();
    String getInvokedFunctionArn();
    String getFunctionVersion();
    String getLogStreamName();
}
//// com/amazonaws/services/lambda/runtime/events/SQSEvent.java
package com.amazonaws.services.lambda.runtime.events;

public class SQSEvent {
    public record SQSMessage(String id, String queue, java.util.Map<String, String> attributes) {
        public String getMessageId() { return id; }
        public String getEventSourceArn() { return queue; }
        public java.util.Map<String, String> getAttributes() { return attributes; }
    }
}
//// com/fasterxml/jackson/databind/ObjectMapper.java
package com.fasterxml.jackson.databind;

import java.util.*;
import java.util.stream.*;

public class ObjectMapper {
    public String writeValueAsString(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream().map(e -> text(e.getKey()) + ":" + writeValueAsString(e.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof Collection<?> list) {
            return list.stream().map(this::writeValueAsString).collect(Collectors.joining(",", "[", "]"));
        }
        return value instanceof Number ? value.toString() : text(value);
    }

    private static String text(Object value) {
        return value.toString().chars().mapToObj(c -> c < ' ' || c == '"' || c == '\\' ? String.format("\\u%04x", c)
                : String.valueOf((char) c)).collect(Collectors.joining("", "\"", "\""));
    }
}
//// software/amazon/awssdk/services/sqs/SqsClient.java
package software.amazon.awssdk.services.sqs;

public class SqsClient {
    public static SqsClient create() { return new SqsClient(); }

    public void sendMessage(java.util.function.Consumer<Request> build) {
        var request = new Request();
        build.accept(request);
        System.out.println(request.body);
    }

    public static class Request {
        String body;
        public Request queueUrl(String url) { return this; }
        public Request messageBody(String body) { this.body = body; return this; }
    }
}
//// UseExample.java
import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.events.SQSEvent.SQSMessage;
import java.util.*;

public class UseExample {
    public static void main(String[] arguments) throws Exception {
        var records = List.of(new SQSMessage("m-0", arguments[0], Map.of("ApproximateReceiveCount", "2")));
        Report.send(new IllegalStateException("no \"price\""), records, new Context() {
            public String getAwsRequestId() { return "request-1"; }
            public String getInvokedFunctionArn() { return arguments[1]; }
            public String getFunctionVersion() { return "7"; }
            public String getLogStreamName() { return "a-stream"; }
        });
    }
}
