import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join as joinPath } from 'node:path';
import { configMap } from '@kruise/api/core/configmap';
import type { Client } from '@kruise/client/client';
import { createCaches } from '@kruise/client/informer';
import { formatKubeconfig } from '@kruise/client/kubeconfig-file';
import { jsonLog } from '@kruise/client/log';
import { clusterGates } from '@kruise/cluster/feature-gates';
import { startDaemon } from '@kruise/daemon/daemon';
import { machineAddress } from '@kruise/node/kubelet/node/machine';
import { watchSources } from '@kruise/node/kubelet/pods/sources';
import { parseYaml } from '@kruise/schema/yaml-text';
import { systemClock, systemRandom } from '@kruise/values/system';
import {
  dataDirectory,
  processStartTime,
  type Running,
  runningCluster,
  writeFileAtomically,
} from '../data-directory.ts';
import { type BootstrapToken, type DiscoveredCluster, parseToken } from '../machine/bootstrap-token.ts';
import { pairStore, selfSignedCertificate } from '../machine/certificate-files.ts';
import { machineNodeDirectory } from '../machine/directory.ts';
import { discoverCluster } from '../machine/discovery.ts';
import { kubeletConfigName } from '../machine/join-permissions.ts';
import { requireNetwork } from '../machine/network-claim.ts';
import { runNode } from '../machine/node.ts';
import { connectAsNode } from '../machine/node-client.ts';
import { podNetworkService, proxyService } from '../machine/node-network.ts';
import type { NodeServiceOptions } from '../machine/node-services.ts';
import { openRuntime } from '../machine/runtime.ts';
import { parseRuntime } from '../machine/runtime-choice.ts';
import { parseTaints } from '../taints.ts';

export type JoinOptions = {
  readonly data?: string;
  readonly token?: string;
  readonly discoveryTokenCaCertHash?: readonly string[];
  readonly nodeName?: string;
  readonly nodeIp?: string;
  readonly runtime: string;
  readonly sandboxImage: string;
  readonly registryMirror?: string;
  readonly nodeLabels?: string;
  readonly registerWithTaints?: string;
  readonly featureGates: string;
};

/** Makes this machine a node of a cluster until the process receives a signal. Containers keep running. */
export async function join(server: string | undefined, options: JoinOptions): Promise<number> {
  const place = dataDirectory(options.data);
  const { path: data } = place;
  const other = runningCluster(place);
  if (other) throw new Error(`${data} is in use by pid ${other.pid}: stop it with kruise down --data ${data}`);
  const name = (options.nodeName ?? hostname()).toLowerCase();
  const address = options.nodeIp ?? machineAddress();
  if (address === undefined) throw new Error('this machine has no network address: give one with --node-ip');
  const choice = parseRuntime(options.runtime);
  if (choice.kind === 'simulated')
    throw new Error('kruise join runs real containers: use --runtime containerd or crio');
  const directory = machineNodeDirectory(data);
  mkdirSync(directory.certificates, { recursive: true, mode: 0o700 });
  const log = jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const stop = new AbortController();
  for (const each of ['SIGINT', 'SIGTERM'] as const) process.once(each, () => stop.abort());
  const { signal } = stop;

  const bootstrapKubeconfig = joinPath(directory.path, 'bootstrap.kubeconfig');
  const cluster = await clusterOf(server, options, bootstrapKubeconfig);
  const kubeconfig = joinPath(directory.path, 'kubelet.kubeconfig');
  const { client, close } = await connectAsNode(
    { kubeconfig, bootstrapKubeconfig, nodeName: name, certificates: directory.certificates, log },
    signal,
  );
  const network = await networkOf(client);
  const runtime = await openRuntime({
    choice,
    directory: data,
    sandboxImage: options.sandboxImage,
    ...(options.registryMirror === undefined ? {} : { registryMirror: options.registryMirror }),
  });
  const claim = await requireNetwork().catch(async (error: unknown) => {
    await runtime.stop();
    throw error;
  });
  const onError = (error: unknown) => {
    if (!signal.aborted) log.warn({ node: name, error }, 'request failed');
  };
  const common = { client, clock: systemClock, random: systemRandom, log };
  const caches = createCaches(client, systemClock, systemRandom, { newest: true, onError }, signal);
  const gates = clusterGates(options.featureGates);
  const serving = pairStore(
    joinPath(directory.certificates, 'kubelet.crt'),
    joinPath(directory.certificates, 'kubelet.key'),
  );
  const node = await runNode(
    {
      ...common,
      accessClient: client,
      caches,
      sources: watchSources(client, systemClock, systemRandom, { nodeName: name, onError }, signal),
      name,
      address,
      runtime,
      // The group of all nodes has the ClusterRoles that these need.
      services: [podNetworkService, proxyService(client)],
      serving: { ...selfSignedCertificate(serving, name, address), clientAuthority: cluster.authority },
      data,
      network,
      gates: gates.kubelet,
      labels: labelsOf(options.nodeLabels),
      taints: parseTaints(options.registerWithTaints ?? ''),
    },
    signal,
  );
  const daemon = startDaemon({ ...common, caches, gates: gates.kruise, nodeName: name }, signal);
  await daemon.serve({ name, runtimes: [node.runtime] }, signal);
  await node.kubelet.registered;
  const running: Running = {
    pid: process.pid,
    processStartTime: processStartTime(process.pid),
    server: cluster.server,
    startedAt: new Date().toISOString(),
    command: 'join',
  };
  writeFileAtomically(place.running, JSON.stringify(running));
  if (!signal.aborted)
    console.log(
      `This machine is the node ${name} of ${cluster.server}. Press Ctrl-C to stop; containers keep running.`,
    );
  await Promise.all([node.stopped, daemon.stopped]);
  await runtime.stop();
  claim.release();
  rmSync(place.running, { force: true });
  close();
  return 0;
}

/** Discovers the cluster at the first start; later starts read what it found. */
async function clusterOf(
  server: string | undefined,
  { token: tokenText, discoveryTokenCaCertHash: hashes = [] }: JoinOptions,
  file: string,
): Promise<DiscoveredCluster> {
  const kept = `${file}.json`;
  if (tokenText === undefined && existsSync(kept)) return readCluster(kept);
  if (server === undefined || tokenText === undefined || hashes.length === 0) {
    throw new Error(
      'kruise join needs the address of the cluster, --token and --discovery-token-ca-cert-hash: kruise token create prints them',
    );
  }
  const token = parseToken(tokenText);
  const found = await discoverCluster(server, { token, hashes });
  writeFileAtomically(file, bootstrapText(found, token));
  writeFileAtomically(kept, JSON.stringify(found));
  return found;
}

function readCluster(file: string): DiscoveredCluster {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function bootstrapText({ server, authority }: DiscoveredCluster, { id, secret }: BootstrapToken): string {
  const name = 'bootstrap';
  return formatKubeconfig({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [{ name, user: { token: `${id}.${secret}` } }],
    'current-context': name,
  });
}

/** Reads the network of the cluster from the configuration of its kubelets. */
async function networkOf(
  client: Client,
): Promise<Pick<NodeServiceOptions, 'clusterRanges' | 'clusterDns' | 'clusterDomain'>> {
  const { data = {} } = await client.get(configMap, { namespace: 'kube-system', name: kubeletConfigName });
  const parsed = parseYaml(data['kubelet'] ?? '{}') as {
    readonly clusterDNS?: readonly string[];
    readonly clusterDomain?: string;
  };
  return {
    clusterRanges: (data['clusterCIDR'] ?? '').split(',').filter((range) => range !== ''),
    clusterDns: parsed.clusterDNS ?? [],
    clusterDomain: parsed.clusterDomain ?? 'cluster.local',
  };
}

function labelsOf(text = ''): { readonly [key: string]: string } {
  const pairs = text.split(',').filter((each) => each !== '');
  return Object.fromEntries(pairs.map((each) => [each.split('=', 1)[0] ?? '', each.split('=').slice(1).join('=')]));
}
