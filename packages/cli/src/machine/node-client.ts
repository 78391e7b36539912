/** The API client of a node. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClusterConnection, connect } from '@kruise/client/connect';
import { loadKubeconfig } from '@kruise/client/kubeconfig';
import { formatKubeconfig } from '@kruise/client/kubeconfig-file';
import type { Log } from '@kruise/client/log';
import type { KeyPair } from '@kruise/machinery/x509/certificate';
import {
  nodeClientCertificateSpec,
  requestCertificate,
  rotateCertificates,
} from '@kruise/node/kubelet/node/certificates';
import { systemClock, systemRandom } from '@kruise/values/system';
import { loadOrCreate, pairStore } from './certificate-files.ts';

export type NodeConnectOptions = {
  readonly kubeconfig?: string;
  /** Kubeconfig by which the client certificate is requested. */
  readonly bootstrapKubeconfig?: string;
  readonly nodeName: string;
  readonly certificates: string;
  readonly log: Log;
};

/**
 * Connects to the API server as the node: with a kubeconfig, or with a client certificate that is requested first and
 * rotated from then on.
 */
export async function connectAsNode(
  { kubeconfig, bootstrapKubeconfig, nodeName, certificates, log }: NodeConnectOptions,
  signal: AbortSignal,
): Promise<Pick<ClusterConnection, 'client' | 'close'>> {
  const userAgent = 'kubelet/v1.33';
  if (bootstrapKubeconfig === undefined) {
    return connect(systemClock, { userAgent, ...(kubeconfig === undefined ? {} : { path: kubeconfig }) });
  }
  const file = join(certificates, 'kubelet-client-current.pem');
  const store = pairStore(file, file);
  const context = { clock: systemClock, random: systemRandom, log };
  const bootstrap = connect(systemClock, { userAgent, path: bootstrapKubeconfig });
  const wish = nodeClientCertificateSpec(nodeName);
  let current = await loadOrCreate(store, () => requestCertificate(bootstrap.client, context, wish, signal));
  const client = bootstrap.as({ current: () => ({ certificate: current }) }, { userAgent });
  if (kubeconfig !== undefined && !existsSync(kubeconfig)) {
    writeFileSync(kubeconfig, kubeconfigFor(bootstrapKubeconfig, file), { mode: 0o600 });
  }
  const onChange = (pair: KeyPair) => {
    current = pair;
    log.info({ node: nodeName }, 'client certificate rotated');
  };
  void rotateCertificates(context, { client, certificateSpec: () => wish, store, onChange }, signal);
  return { client, close: bootstrap.close };
}

/** Returns a kubeconfig with the cluster of the bootstrap kubeconfig and the client certificate in a file. */
function kubeconfigFor(bootstrap: string, file: string): string {
  const [cluster] = loadKubeconfig({ path: bootstrap }).clusters.values();
  const name = 'default-cluster';
  return formatKubeconfig({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: cluster ?? {} }],
    contexts: [{ name: 'default-context', context: { cluster: name, user: 'default-auth' } }],
    users: [{ name: 'default-auth', user: { 'client-certificate': file, 'client-key': file } }],
    'current-context': 'default-context',
  });
}
