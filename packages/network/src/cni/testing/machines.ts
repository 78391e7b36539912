/** Machines and Pods as network namespaces, connected by real routes, VXLAN devices and CNI plugins. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseAddress, parsePrefix } from '@kruise/values/address';
import { writeTransaction } from '../../host/nft.ts';
import { type CommandRunner, systemCommands } from '../../host/run-command.ts';
import { type CniConfiguration, cniConfiguration } from '../configuration.ts';
import { applyRoutes, defaultVxlan, readLinks } from '../kernel-routes.ts';
import { createMasqueradeTable } from '../masquerade.ts';
import { planRoutes, type RoutedNode, type RouteMode, type RoutePlan } from '../route-plan.ts';
import { addSandbox, type CniSandbox, deleteSandbox } from './invoke-plugins.ts';
import type { Probe, ProbeResponse } from './pod-agent.ts';

/** Ports on which every Pod listens. */
export const listeningPorts = [80, 81, 8080];

export type Agent = {
  /** Returns for each probe the client address that the server saw; null without a connection. */
  probe(probes: readonly Probe[]): Promise<readonly (string | null)[]>;
};

export type TestPod = Agent & { readonly addresses: readonly string[] };

export type Machine = Agent & {
  readonly node: RoutedNode;
  readonly run: CommandRunner;
  /** Connects a Pod, by default with the configuration of the machine. */
  addPod(configuration?: CniConfiguration): Promise<TestPod>;
  /** Applies the routes to all machines; returns the plan. */
  applyRoutes(machines: readonly Machine[], mode: RouteMode): Promise<RoutePlan>;
};

export type Lab = {
  /** Adds a machine whose uplink is on the link of a router. */
  addMachine(options: { readonly name: string; readonly link: number; readonly host: number }): Promise<Machine>;
  /** The router between the links, which also stands for servers outside of the cluster. */
  readonly outside: Agent & { readonly addresses: readonly string[] };
  close(): Promise<void>;
};

/** Creates a router with a number of links. All names are unique to the lab. */
export async function createLab(links: number): Promise<Lab> {
  const prefix = `kpol${randomBytes(3).toString('hex')}`;
  const host = systemCommands();
  const namespaces: string[] = [];
  const children: ChildProcess[] = [];
  const sandboxes: (() => Promise<void>)[] = [];
  const directory = mkdtempSync(join(tmpdir(), 'kruise-network-'));

  async function addNamespace(name: string): Promise<{ readonly id: string; readonly run: CommandRunner }> {
    const id = `${prefix}-${name}`;
    await host('ip', ['netns', 'add', id]);
    namespaces.push(id);
    const run = systemCommands(['ip', 'netns', 'exec', id]);
    await run('ip', ['link', 'set', 'lo', 'up']);
    return { id, run };
  }

  async function startAgent(id: string): Promise<Agent> {
    const script = fileURLToPath(new URL('./pod-agent.ts', import.meta.url));
    const args = ['netns', 'exec', id, process.execPath, script, ...listeningPorts.map(String)];
    const child = spawn('ip', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const pending = new Map<number, (results: ProbeResponse['results']) => void>();
    let requests = 0;
    const ready = Promise.withResolvers<void>();
    child.once('exit', (code) => ready.reject(new Error(`the agent of ${id} has ended with code ${code}`)));
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'ready') {
        ready.resolve();
        return;
      }
      const response = JSON.parse(line) as ProbeResponse;
      pending.get(response.id)?.(response.results);
      pending.delete(response.id);
    });
    await ready.promise;
    return {
      probe: (probes) =>
        new Promise((resolve) => {
          requests++;
          pending.set(requests, resolve);
          child.stdin.write(`${JSON.stringify({ id: requests, probes })}\n`);
        }),
    };
  }

  const router = await addNamespace('r');
  await enableForwarding(router.run);
  for (let link = 1; link <= links; link++) {
    // All machines of a link are on one bridge of the router.
    await router.run('ip', ['link', 'add', `br${link}`, 'type', 'bridge']);
    await router.run('ip', ['address', 'add', `192.168.${link}.254/24`, 'dev', `br${link}`]);
    await router.run('ip', ['address', 'add', `fd00:0:0:${link}::fe/64`, 'dev', `br${link}`, 'nodad']);
    await router.run('ip', ['link', 'set', `br${link}`, 'up']);
  }
  const outside = await startAgent(router.id);
  let machineCount = 0;
  let podCount = 0;

  return {
    outside: { ...outside, addresses: ['192.168.1.254', 'fd00:0:0:1::fe'] },
    async addMachine({ name, link, host: hostNumber }) {
      const number = ++machineCount;
      const { id, run } = await addNamespace(name);
      await router.run('ip', `link add p${number} type veth peer name eth0 netns ${id}`.split(' '));
      await router.run('ip', ['link', 'set', `p${number}`, 'master', `br${link}`, 'up']);
      await run('ip', ['-batch', '-'], {
        input: [
          `address add 192.168.${link}.${hostNumber}/24 dev eth0`,
          `address add fd00:0:0:${link}::${hostNumber}/64 dev eth0 nodad`,
          'link set eth0 up',
          `route add default via 192.168.${link}.254`,
          `route add default via fd00:0:0:${link}::fe`,
        ].join('\n'),
      });
      await enableForwarding(run);
      const podCidrs = [`10.244.${number}.0/24`, `fd00:10:244:${number}::/64`];
      const node: RoutedNode = {
        name,
        addresses: [`192.168.${link}.${hostNumber}`, `fd00:0:0:${link}::${hostNumber}`].map(parseAddress),
        podCidrs: podCidrs.map(parsePrefix),
      };
      const configuration = cniConfiguration({
        podCidrs,
        mtu: 1450,
        plugins: new Set(['ptp', 'host-local']),
        hasIptables: false,
        dataDir: join(directory, name),
      });
      const masquerade = createMasqueradeTable();
      const machine: Machine = {
        ...(await startAgent(id)),
        node,
        run,
        async addPod(own = configuration) {
          const pod = await addNamespace(`pod${++podCount}`);
          const sandbox: CniSandbox = { id: pod.id, networkNamespace: pod.id };
          const addresses = await addSandbox(run, own, sandbox);
          sandboxes.push(() => deleteSandbox(run, own, sandbox));
          return { ...(await startAgent(pod.id)), addresses };
        },
        async applyRoutes(machines, mode) {
          const others = machines.filter((each) => each !== machine).map((each) => each.node);
          const plan = planRoutes(node, others, await readLinks(run), mode);
          await applyRoutes(run, plan, defaultVxlan);
          masquerade.update(plan);
          const transaction = masquerade.nft.nextTransaction();
          if (transaction) await writeTransaction(run, transaction);
          return plan;
        },
      };
      return machine;
    },
    async close() {
      for (const child of children) child.stdin?.end();
      await Promise.all(children.map((child) => (child.exitCode === null ? once(child, 'exit') : undefined)));
      await Promise.all(sandboxes.map((remove) => remove()));
      for (const id of namespaces) await host('ip', ['netns', 'delete', id]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function enableForwarding(run: CommandRunner): Promise<void> {
  const parameters = ['ipv4/ip_forward', 'ipv6/conf/all/forwarding'];
  await run('sh', ['-c', parameters.map((each) => `echo 1 > /proc/sys/net/${each}`).join(' && ')]);
}
