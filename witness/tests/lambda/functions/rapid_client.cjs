// Stands in for the native part of aws-lambda-ric, which needs a C++ compiler, cmake and autotools to build: three calls
// of the Runtime API. Everything else is the real runtime client.
const Module = require('node:module');
const http = require('node:http');
const { execFileSync } = require('node:child_process');

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const base = '/2018-06-01/runtime/invocation/';
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

const next = () =>
  new Promise((resolve, reject) => {
    const request = http.request({ host, port, path: `${base}next`, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ bodyJson: Buffer.concat(chunks).toString(), headers: response.headers }));
    });
    request.on('error', reject).end();
  });

// The native client returns only after Lambda has answered: the process may end right after that.
const POST = `
  const [host, port, path, headers] = JSON.parse(process.argv[1]);
  const body = require('node:fs').readFileSync(0);
  const request = require('node:http').request(
    { host, port, path, method: 'POST', headers: { ...headers, 'Content-Length': body.length } },
    (response) => response.resume().on('end', () => process.exit(response.statusCode === 202 ? 0 : 1)));
  request.on('error', () => process.exit(1)).end(body);`;
const post = (path, body, headers) => {
  const { NODE_OPTIONS, ...env } = process.env;
  execFileSync(process.execPath, ['-e', POST, JSON.stringify([host, port, base + path, headers])], { input: body, env });
};

const client = {
  initializeClient: () => {},
  next,
  done: (id, body) => post(`${id}/response`, body, { 'Content-Type': 'application/json' }),
  error: (id, body, cause) =>
    post(`${id}/error`, body, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Function-Error-Type': JSON.parse(body).errorType,
      'Lambda-Runtime-Function-XRay-Error-Cause': cause,
    }),
};

const load = Module._load;
Module._load = (request, ...rest) => (request.endsWith('rapid-client.node') ? client : load(request, ...rest));
