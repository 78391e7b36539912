import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ExtenderTls, Post } from '@kruise/controlplane/scheduler/extenders/extender';

/** Maximum size of an extender's response. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** Sends a request to a scheduler extender over HTTP or HTTPS. */
export const postToExtender: Post = (url, body, { httpTimeoutMs, tls }) =>
  new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const options = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(httpTimeoutMs),
      ...(tls ? tlsOptions(tls) : {}),
    };
    const sent = send(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxAnswerBytes) response.destroy(new Error(`the response of ${url} is too long`));
      });
      response.on('error', reject);
      response.on('end', () => {
        const code = response.statusCode ?? 0;
        try {
          resolve({ code, body: code === 200 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined });
        } catch (error) {
          reject(error);
        }
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });

function tlsOptions({ insecure, serverName, caFile, certFile, keyFile }: ExtenderTls) {
  return {
    ...(insecure ? { rejectUnauthorized: false } : {}),
    ...(serverName ? { servername: serverName } : {}),
    ...(caFile ? { ca: readFileSync(caFile) } : {}),
    ...(certFile ? { cert: readFileSync(certFile) } : {}),
    ...(keyFile ? { key: readFileSync(keyFile) } : {}),
  };
}
