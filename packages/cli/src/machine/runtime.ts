/** The container runtime of this machine: found, or started. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { GrpcError } from '@kruise/client/grpc/status';
import { createGrpcRuntime, requireRuntime } from '@kruise/node/cri/grpc/grpc-runtime';
import { systemClock } from '@kruise/values/system';
import { accepts, startContainerd } from './containerd.ts';
import { machineNodeDirectory, podsOfNode, readRuntimeRecord, writeRuntimeRecord } from './directory.ts';
import {
  findCniDirectory,
  missingMessage,
  mountRequirement,
  networkRequirements,
  pluginRequirement,
  type Requirement,
  runtimeRequirements,
} from './requirements.ts';
import type { RuntimeChoice } from './runtime-choice.ts';

/** A container runtime that answers. */
export type MachineRuntime = {
  readonly endpoint: string;
  /** Directory of CNI configurations that the runtime watches. */
  readonly cniConfiguration: string;
  /** True if the runtime was started for this node. */
  readonly isOwn: boolean;
  /** Stops the runtime if it was started for this node; containers keep running. */
  stop(): Promise<void>;
};

export type OpenRuntimeOptions = {
  readonly choice: Exclude<RuntimeChoice, { readonly kind: 'simulated' }>;
  /** Data directory of the node. */
  readonly directory: string;
  readonly sandboxImage: string;
  readonly registryMirror?: string;
};

/** Finds or starts the runtime. Throws with the command that installs what is missing. */
export async function openRuntime(options: OpenRuntimeOptions): Promise<MachineRuntime> {
  const { choice, directory } = options;
  if (process.platform !== 'linux') throw new Error('real nodes run on Linux only: leave out --runtime elsewhere');
  if (process.getuid?.() !== 0) throw new Error('a real node needs root: run kruise with sudo');
  const found = choice.kind === 'socket' ? await findSocket(choice.sockets) : undefined;
  const isOwn = found === undefined && (choice.kind === 'own' || choice.mayStart);
  const cniBinaries = findCniDirectory(existsSync);
  const missing: readonly Requirement[] = [
    ...(isOwn ? runtimeRequirements.filter(({ name }) => !isInstalled(name)) : []),
    ...(isInstalled('mount') ? [] : [mountRequirement]),
    ...(cniBinaries ? [] : [pluginRequirement]),
    ...networkRequirements.filter(({ name }) => !isInstalled(name)),
  ];
  if (missing.length > 0) throw new Error(missingMessage(missing, osRelease()));
  if (found !== undefined) {
    const endpoint = `unix://${found}`;
    const cniConfiguration = await inspectRuntime(endpoint, directory);
    writeRuntimeRecord(directory, { endpoint, isOwn: false, cniConfiguration });
    return { endpoint, cniConfiguration, isOwn: false, stop: async () => {} };
  }
  if (!isOwn || cniBinaries === undefined) {
    const name = choice.kind === 'socket' ? choice.name : 'containerd';
    throw new Error(`the runtime ${name} does not answer: start its service first (systemctl start ${name})`);
  }
  const { containerd: own, run } = machineNodeDirectory(directory);
  const containerd = await startContainerd({
    directory: own,
    run,
    cniBinaries,
    sandboxImage: options.sandboxImage,
    ...(options.registryMirror === undefined ? {} : { registryMirror: options.registryMirror }),
  });
  const endpoint = `unix://${containerd.socket}`;
  const { cniConfiguration } = containerd;
  writeRuntimeRecord(directory, { endpoint, isOwn: true, cniConfiguration });
  return { endpoint, cniConfiguration, isOwn: true, stop: containerd.stop };
}

/**
 * Returns the directory of CNI configurations of a runtime that is used for the first time or again. Throws if it runs
 * Pods of another kubelet: a kubelet removes all Pods that are not its own.
 */
async function inspectRuntime(endpoint: string, directory: string): Promise<string> {
  const connection = new AbortController();
  try {
    const runtime = createGrpcRuntime({ clock: systemClock, endpoint, signal: connection.signal });
    const { items } = await runtime.listPodSandbox({});
    const isOwn = podsOfNode(machineNodeDirectory(directory));
    const foreign = items.filter(({ metadata }) => !isOwn(metadata.uid));
    if (foreign.length > 0 && readRuntimeRecord(directory)?.endpoint !== endpoint) {
      const names = foreign.slice(0, 3).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      throw new Error(
        `the runtime at ${endpoint} runs Pods of another kubelet (${names.join(', ')}), which would be removed: use --runtime own-containerd`,
      );
    }
    const { info } = await runtime.status({ verbose: true });
    return cniDirectoryOf(info['config'] ?? '{}');
  } finally {
    connection.abort();
  }
}

const usualCniConfiguration = '/etc/cni/net.d';

/** Returns the directory of CNI configurations in the configuration of containerd's CRI plugin. */
export function cniDirectoryOf(configuration: string): string {
  return JSON.parse(configuration).cni?.confDir ?? usualCniConfiguration;
}

/** Returns the first socket on which a runtime with a CRI answers: the containerd of Docker has none. */
async function findSocket(sockets: readonly string[]): Promise<string | undefined> {
  for (const socket of sockets) {
    if (!existsSync(socket) || !(await accepts(socket))) continue;
    const endpoint = `unix://${socket}`;
    const connection = new AbortController();
    try {
      await requireRuntime(createGrpcRuntime({ clock: systemClock, endpoint, signal: connection.signal }), endpoint);
      return socket;
    } catch (error) {
      const { cause } = error as Error;
      if (!(cause instanceof GrpcError && cause.code === 'UNIMPLEMENTED')) throw error;
    } finally {
      connection.abort();
    }
  }
  return undefined;
}

function isInstalled(command: string): boolean {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return directories.some((directory) => directory !== '' && existsSync(join(directory, command)));
}

function osRelease(): string {
  return existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
}
