import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { serveHealth } from '@kruise/client/health';
import { jsonLog, type Log } from '@kruise/client/log';
import { addProcessMetrics, createMetrics } from '@kruise/client/metrics';
import { clusterGates } from '@kruise/cluster/feature-gates';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { createSimulatedRuntime } from '@kruise/node/cri/simulated/simulated-runtime';
import { machineDockerConfig } from '@kruise/node/kubelet/credentials/docker-config';
import { createNodeSecrets } from '@kruise/node/kubelet/credentials/node-credentials';
import { defaultLogLimits, type LogLimits } from '@kruise/node/kubelet/eviction/log-rotation';
import { createKubelet } from '@kruise/node/kubelet/kubelet';
import type { KubeletOptions } from '@kruise/node/kubelet/kubelet-options';
import {
  nodeServingCertificateSpec,
  requestCertificate,
  rotateCertificates,
} from '@kruise/node/kubelet/node/certificates';
import { hasUnifiedCgroups, machineAddress, machineCapacity, machineInfo } from '@kruise/node/kubelet/node/machine';
import { delegatedAccess } from '@kruise/node/kubelet/server/access';
import { listenKubelet } from '@kruise/node/kubelet/server/listen';
import { type MachineNode, startMachineNode } from '@kruise/node/machine-node';
import { addQuantities, formatQuantity, parseQuantity, quantityValue } from '@kruise/values/quantity';
import { systemClock, systemRandom } from '@kruise/values/system';
import { type KubeletStart, kubeletStart, maxPodsOf } from '../kubelet-configuration.ts';
import type { KubeletFlags } from '../kubelet-flags.ts';
import { loadOrCreate, pairStore, selfSignedCertificate } from '../machine/certificate-files.ts';
import { requiredCredentialProviders } from '../machine/credential-providers.ts';
import { connectAsNode } from '../machine/node-client.ts';
import { startNodeDaemon } from '../node-daemon.ts';
import { integerOf, resourceSettings } from '../resource-flags.ts';
import { parseTaints } from '../taints.ts';
import { parseSoftThresholds, parseThresholds } from '../thresholds.ts';

/**
 * Runs a kubelet until the process receives a signal. Containers of a CRI runtime keep running. `given` are the names of
 * the flags on the command line.
 */
export async function kubelet(allFlags: KubeletFlags, given: ReadonlySet<string>): Promise<number> {
  const start = kubeletStart(withExistingBootstrap(allFlags), given);
  const { flags } = start;
  const gates = clusterGates(flags.featureGates);
  const log = jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const { signal } = stop;
  if (start.ignored.length > 0) log.warn({ fields: start.ignored }, 'configuration fields have no effect');
  const nodeName = (flags.hostnameOverride ?? hostname()).toLowerCase();
  const certificates = flags.certDir ?? join(flags.rootDir, 'pki');
  mkdirSync(certificates, { recursive: true, mode: 0o700 });
  const address = flags.nodeIp ?? machineAddress() ?? '127.0.0.1';

  const providers = await requiredCredentialProviders(
    flags,
    { clock: systemClock, log, environment: process.env },
    signal,
  );
  const { client, close } = await connectAsNode({ ...flags, nodeName, certificates, log }, signal);
  const metrics = createMetrics();
  addProcessMetrics(metrics, process, systemClock.now());
  const port = Number(flags.port);
  const { kubelet: running, runtime } = await startKubelet(
    start,
    {
      ...start.options,
      client,
      clock: systemClock,
      random: systemRandom,
      log,
      metrics,
      nodeName,
      address,
      port,
      gates: gates.kubelet,
      labels: Object.fromEntries(pairsOf(flags.nodeLabels)),
      taints: parseTaints(flags.registerWithTaints ?? ''),
      ...(providers ? { credentialProviders: providers } : {}),
      ...(flags.podManifestPath === undefined ? {} : { staticPodPath: flags.podManifestPath }),
      ...limitsOf(flags),
    },
    signal,
  );
  const isSimulated = flags.containerRuntimeEndpoint === 'simulated';
  const daemon = flags.daemonKubeconfig
    ? await startNodeDaemon(
        {
          kubeconfig: flags.daemonKubeconfig,
          nodeName,
          runtimes: [runtime],
          nodeSecrets: createNodeSecrets({
            providers,
            files: runtime.files,
            dockerConfig: {
              ...(isSimulated ? {} : machineDockerConfig(process.cwd(), process.env)),
              rootDirectory: flags.rootDir,
            },
            log,
          }),
          log,
          gates: gates.kruise,
        },
        signal,
      )
    : undefined;
  const store = pairStore(join(certificates, 'kubelet.crt'), join(certificates, 'kubelet.key'));
  const serving = nodeServingCertificateSpec(nodeName, [nodeName, address]);
  const context = { clock: systemClock, random: systemRandom, log };
  const isRotated = (flags.rotateServerCertificates ?? false) && start.servingFiles === undefined;
  const pair = start.servingFiles
    ? {
        certificate: readFileSync(start.servingFiles.certificate, 'utf8'),
        key: readFileSync(start.servingFiles.key, 'utf8'),
      }
    : isRotated
      ? await loadOrCreate(store, () => requestCertificate(client, context, serving, signal))
      : selfSignedCertificate(store, nodeName, address);
  const listening = await listenKubelet(
    running.handler,
    {
      host: flags.address,
      port,
      ...pair,
      ...(flags.clientCaFile === undefined ? {} : { clientAuthority: readFileSync(flags.clientCaFile, 'utf8') }),
      access: delegatedAccess(client, systemClock, nodeName),
    },
    signal,
  );
  if (isRotated) {
    void rotateCertificates(
      context,
      { client, certificateSpec: () => serving, store, onChange: listening.setCertificate },
      signal,
    );
  }
  const healthPort = Number(flags.healthzPort);
  const health =
    healthPort === 0
      ? undefined
      : await serveHealth({ host: start.healthzBindAddress, port: healthPort, ready: {}, metrics });
  await running.registered;
  log.info({ node: nodeName, port: listening.port }, 'node registered');
  await Promise.all([running.stopped, daemon?.stopped]);
  await health?.close();
  close();
  return 0;
}

/** kubeadm names a bootstrap kubeconfig that it deletes when the node has joined: then the kubeconfig is enough. */
function withExistingBootstrap(flags: KubeletFlags): KubeletFlags {
  const { bootstrapKubeconfig, kubeconfig, ...rest } = flags;
  if (bootstrapKubeconfig === undefined || kubeconfig === undefined) return flags;
  return existsSync(bootstrapKubeconfig) || !existsSync(kubeconfig) ? flags : { ...rest, kubeconfig };
}

/** Starts the kubelet with a CRI runtime, or with simulated containers on the capacity of this machine. */
async function startKubelet(
  start: KubeletStart,
  options: Omit<KubeletOptions, 'runtime' | 'addresses'> & { readonly address: string },
  signal: AbortSignal,
): Promise<MachineNode> {
  const { flags, hostDns } = start;
  const { containerRuntimeEndpoint: endpoint, rootDir: rootDirectory } = flags;
  const { address, ...rest } = options;
  const maxPods = maxPodsOf(flags, start);
  const settings = {
    rootDirectory,
    clusterDns: flags.clusterDns.split(',').filter((each) => each !== ''),
    clusterDomain: flags.clusterDomain,
    podLogsDirectory: flags.podLogsDir,
    hostDns,
    ...(flags.cgroupRoot === undefined ? {} : { cgroupRoot: flags.cgroupRoot }),
  };
  if (endpoint !== 'simulated') {
    const logLimits = { ...logLimitsOf(flags), intervalMs: start.logIntervalMs };
    const resources = resourceSettings(flags);
    setOomScore(integerOf('--oom-score-adj', flags.oomScoreAdj), options.log);
    return startMachineNode({ ...rest, endpoint, address, maxPods, logLimits, settings, resources }, signal);
  }
  const runtime: NodeRuntime = createSimulatedRuntime({
    clock: systemClock,
    random: systemRandom,
    nodeAddress: address,
  });
  const kubelet = createKubelet(
    {
      ...rest,
      runtime,
      addresses: [address],
      capacity: await machineCapacity(rootDirectory, maxPods),
      info: machineInfo(),
      settings: { ...settings, hasUnifiedCgroups: hasUnifiedCgroups() },
    },
    signal,
  );
  return { kubelet, runtime };
}

/** Makes the kernel kill containers before the kubelet when memory is short. */
function setOomScore(score: number, log: Log | undefined): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', String(score));
  } catch (error) {
    log?.warn({ score, error }, 'failed to set the OOM score of the kubelet');
  }
}

function logLimitsOf({ containerLogMaxSize, containerLogMaxFiles }: KubeletFlags): LogLimits {
  const maxFiles = Number(containerLogMaxFiles);
  if (!Number.isInteger(maxFiles) || maxFiles < 2) {
    throw new Error(`--container-log-max-files must be a number of at least 2, not ${containerLogMaxFiles}`);
  }
  return { ...defaultLogLimits, maxFiles, maxSizeBytes: quantityValue(parseQuantity(containerLogMaxSize)) };
}

/** Returns reserved resources, eviction thresholds and the rate limit of image pulls. */
function limitsOf(flags: KubeletFlags): Partial<KubeletOptions> {
  const perSecond = Number(flags.registryQps);
  const amounts = [flags.kubeReserved, flags.systemReserved].flatMap((each) => pairsOf(each));
  const reserved = Map.groupBy(amounts, ([name]) => name);
  return {
    ...(perSecond > 0 ? { pullLimit: { perSecond, burst: Number(flags.registryBurst) } } : {}),
    ...(flags.evictionHard === undefined ? {} : { evictionHard: parseThresholds(flags.evictionHard) }),
    evictionSoft: parseSoftThresholds(flags.evictionSoft, flags.evictionSoftGracePeriod),
    evictionMaxPodGraceSeconds: Number(flags.evictionMaxPodGracePeriod),
    reserved: Object.fromEntries(
      [...reserved].map(([name, all]) => [
        name,
        formatQuantity(all.map(([, amount]) => parseQuantity(amount)).reduce(addQuantities)),
      ]),
    ),
  };
}

function pairsOf(text = ''): [string, string][] {
  return text
    .split(',')
    .filter((each) => each !== '')
    .map((each) => {
      const [name = '', ...value] = each.split('=');
      return [name, value.join('=')];
    });
}
