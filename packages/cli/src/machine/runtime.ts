/** The container runtime of this machine: found, or started. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createGrpcRuntime, requireRuntime } from '@kruise/node/cri/grpc/grpc-runtime';
import { systemClock } from '@kruise/values/system';
import { accepts, startContainerd } from './containerd.ts';
import { machineNodeDirectory, writeRuntimeRecord } from './directory.ts';
import {
  findCniDirectory,
  firewallRequirement,
  missingMessage,
  mountRequirement,
  networkRequirement,
  type Requirement,
  runtimeRequirements,
} from './requirements.ts';
import type { RuntimeChoice } from './runtime-choice.ts';

/** A container runtime that answers. */
export type MachineRuntime = {
  readonly endpoint: string;
  /** Directory of CNI configurations that the runtime watches. */
  readonly cniConfiguration: string;
  readonly hasFirewall: boolean;
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
  const hasFirewall = isInstalled('iptables');
  const missing: readonly Requirement[] = [
    ...(isOwn ? runtimeRequirements.filter(({ name }) => !isInstalled(name)) : []),
    ...(isInstalled('mount') ? [] : [mountRequirement]),
    ...(cniBinaries ? [] : [networkRequirement]),
    ...(hasFirewall ? [] : [firewallRequirement]),
  ];
  if (missing.length > 0) throw new Error(missingMessage(missing, osRelease()));
  if (found !== undefined) {
    const endpoint = `unix://${found}`;
    writeRuntimeRecord(directory, { endpoint, isOwn: false });
    return {
      endpoint,
      cniConfiguration: '/etc/cni/net.d',
      hasFirewall,
      isOwn: false,
      stop: async () => {},
    };
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
  writeRuntimeRecord(directory, { endpoint, isOwn: true });
  return { endpoint, cniConfiguration: containerd.cniConfiguration, hasFirewall, isOwn: true, stop: containerd.stop };
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
      if (!(error as Error).message.includes('is not implemented')) throw error;
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
