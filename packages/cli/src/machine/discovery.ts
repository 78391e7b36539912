/** Discovery of a cluster by a machine that joins it. */
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { type DiscoveredCluster, type DiscoveryProof, verifyClusterInfo } from './bootstrap-token.ts';

const timeoutMs = 10_000;
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
    const outgoing = request(
      `https://${server}${infoPath}`,
      { ...verification, timeout: timeoutMs },
      async (response) => {
        const content = await text(response);
        if (response.statusCode === 200) resolve(content);
        else
          reject(
            new Error(
              `${server} does not describe its cluster (HTTP status ${response.statusCode}): run kruise token create there`,
            ),
          );
      },
    );
    outgoing.once('timeout', () => outgoing.destroy(new Error(`${server} does not answer`)));
    outgoing.once('error', reject);
    outgoing.end();
  });
}
