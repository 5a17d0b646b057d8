// Calls the example as a handler would. It is copied first to where it finds the SDK.
const [, , example, context, event] = process.argv;
const { report } = await import(example);
await report(new TypeError('no price'), JSON.parse(event).Records, JSON.parse(context));
