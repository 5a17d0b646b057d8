// Reports a failed batch. Call it where the handler catches an error, then throw the error again.
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

const sqs = new SQSClient({});

export async function report(error, records, context) {
  const body = {
    v: 1,
    kind: 'error',
    request_id: context.awsRequestId,
    function: context.invokedFunctionArn,
    version: context.functionVersion,
    instance: context.logStreamName,
    queue: records[0].eventSourceARN,
    failed_at: Date.now(),
    error: { type: error.name, message: error.message.slice(0, 3000), stack: error.stack?.slice(0, 6000) },
    messages: records.map((record) => ({
      id: record.messageId,
      receives: Number(record.attributes.ApproximateReceiveCount),
    })),
  };
  await sqs.send(new SendMessageCommand({ QueueUrl: process.env.DLO_REPORTS, MessageBody: JSON.stringify(body) }));
}
