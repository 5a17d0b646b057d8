// An ordinary consumer: what it does with a message is in the message's body.
import { createRequire } from 'node:module';

class PaymentDeclined extends Error {
  name = 'PaymentDeclined';
  code = 'E_DECLINED';
}

export const handle = async (event) => {
  const failed = [];
  for (const record of event.Records) {
    const order = JSON.parse(record.body);
    if (order.do === 'raise') throw new PaymentDeclined(`order ${order.id} was declined`);
    if (order.do === 'return') {
      console.error(`cannot charge ${record.messageId}`);
      failed.push({ itemIdentifier: record.messageId });
    }
    if (order.do === 'reject') {
      Promise.reject(new PaymentDeclined('nobody awaits this'));
      await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    }
    if (order.do === 'exit') process.exit(7);
    if (order.do === 'sleep') await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    if (order.do === 'eat') {
      const eaten = [];
      for (;;) eaten.push(Buffer.alloc(1024 * 1024, 1));
    }
  }
  return failed.length > 0 ? { batchItemFailures: failed } : { api: process.env.AWS_LAMBDA_RUNTIME_API };
};

const { BatchProcessor, EventType, processPartialResponse } = createRequire(`${process.env.NODE_MODULES}/`)('@aws-lambda-powertools/batch');
const processor = new BatchProcessor(EventType.SQS);

const charge = async (record) => {
  const order = JSON.parse(record.body);
  if (order.do === 'raise') throw new PaymentDeclined(`order ${order.id} was declined`);
};

export const powertools = async (event, context) => processPartialResponse(event, charge, processor, { context });
