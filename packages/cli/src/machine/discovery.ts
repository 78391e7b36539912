/** Discovery of a cluster by a machine that joins it. */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type DiscoveredCluster, type DiscoveryProof, verifyClusterInfo } from './bootstrap-token.ts';

const timeoutMs = 10_000;
/** The response of an unverified server is not read any further. */
const maxInfoBytes = 1024 * 1024;
const infoPath = '/api/v1/namespaces/kube-public/configmaps/cluster-info';

/**
 * Reads and verifies `cluster-info`. The server is not trusted before: the token proves the content, the hash the CA,
 * and the CA the server.
 */
export async function discoverCluster(server: string, proof: DiscoveryProof): Promise<DiscoveredCluster> {
  const found = verifyClusterInfo(JSON.parse(await get(server)), proof);
  await get(server, found.authority);
  return found;
}

/** Sends the request; the server's certificate is verified if there is a CA. */
function get(server: string, authority?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const verification = authority === undefined ? { rejectUnauthorized: false } : { ca: authority };
    const outgoing = request(`https://${server}${infoPath}`, { ...verification, timeout: timeoutMs }, (response) => {
      if (response.statusCode === 200) {
        readBounded(response, maxInfoBytes).then(resolve, reject);
        return;
      }
      response.destroy();
      const status = `HTTP status ${response.statusCode}`;
      reject(new Error(`${server} does not describe its cluster (${status}): run kruise token create there`));
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error(`${server} does not answer`)));
    outgoing.once('error', reject);
    outgoing.end();
  });
}

/** Reads a response up to a number of bytes; a longer one is an error. */
async function readBounded(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the description of the cluster has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
