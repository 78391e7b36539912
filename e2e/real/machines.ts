/** Machines for real nodes: network namespaces on one switch, apart from the network of this machine. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { missingForContainerd } from '@kruise/node/cri/conformance/containerd';
import { freshEnvironment, hasTool, type Outcome, run } from '../cluster.ts';

/** A machine of a test. */
export type Machine = {
  readonly name: string;
  readonly address: string;
  /** Command and arguments that run the following command on this machine. */
  readonly enter: readonly string[];
  /** Runs a program to completion. */
  run(command: string, args: readonly string[], options: RunOptions): Promise<Outcome>;
};

export type RunOptions = { readonly home: string; readonly input?: string };

export type Machines = { readonly all: readonly Machine[]; dispose(): void };

/** Returns whether real nodes can run here. Reports what is missing if they cannot; in CI that is a failure. */
export function hasRealNodes(): boolean {
  const missing =
    missingForContainerd() ??
    ['host-local', 'loopback', 'portmap', 'ptp'].find((plugin) => !existsSync(`/usr/lib/cni/${plugin}`)) ??
    ['bridge', 'conntrack', 'curl', 'go', 'ip', 'iptables', 'nft', 'nsenter'].find(
      (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0,
    );
  if (missing === undefined) return hasTool('kubectl', 'real nodes');
  if (process.env.CI) throw new Error(`${missing} is missing, and with it the tests of real nodes`);
  console.error(`${missing} is missing: real nodes are not tested.`);
  return false;
}

/** Creates machines whose names start with a prefix that no other test uses. */
export function createMachines(prefix: string, count: number): Machines {
  const unique = `${prefix}${process.pid}`;
  const hub = `${unique}-switch`;
  const created: string[] = [];
  const addNamespace = (name: string) => {
    ip('netns', 'add', name);
    created.push(name);
    ip('-n', name, 'link', 'set', 'lo', 'up');
  };
  const dispose = () => {
    for (const name of created.splice(0)) ip('netns', 'delete', name);
  };
  try {
    addNamespace(hub);
    ip('-n', hub, 'link', 'add', 'hub', 'type', 'bridge');
    ip('-n', hub, 'link', 'set', 'hub', 'up');
    const all = Array.from({ length: count }, (_, index) => {
      const name = `${unique}-${index + 1}`;
      const address = `10.89.0.${index + 1}`;
      addNamespace(name);
      ip('-n', hub, 'link', 'add', `port${index}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      ip('-n', hub, 'link', 'set', `port${index}`, 'master', 'hub', 'up');
      ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'eth0');
      ip('-n', name, 'link', 'set', 'eth0', 'up');
      ip('-n', name, 'route', 'add', 'default', 'via', '10.89.0.254');
      return machineOf(name, address);
    });
    return { all, dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

function machineOf(name: string, address: string): Machine {
  // `ip netns exec` would hide the cgroups of this machine behind another /sys.
  const enter = ['nsenter', `--net=/run/netns/${name}`, '--'];
  return {
    name,
    address,
    enter,
    run: (command, args, { home, input }) =>
      run(enter[0]!, [...enter.slice(1), command, ...args], {
        env: freshEnvironment(home),
        ...(input === undefined ? {} : { input }),
      }),
  };
}

function ip(...args: string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
}
