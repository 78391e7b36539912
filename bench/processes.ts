// Cost of separate processes: the same cluster as in bench/cluster.ts, but controllers, cloud controllers, scheduler
// and kruise-manager are separate processes with their own credentials, beside the process with the API server and the
// nodes.
//   node bench/processes.ts [--nodes 10] [--pods 100,1000]
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { useOf } from './process-use.ts';

const { values } = parseArgs({
  options: { nodes: { type: 'string', default: '10' }, pods: { type: 'string', default: '100,1000' } },
});
const bundler = new URL('../scripts/bundle.mjs', import.meta.url).href;
const { bundledCommand } = (await import(bundler)) as { bundledCommand(): Promise<string> };
const command = await bundledCommand();
const folder = mkdtempSync(join(tmpdir(), 'kruise-bench-'));
const [data, admin] = [join(folder, 'data'), join(folder, 'kubeconfig')];
const pki = join(data, 'pki');

// Without a Service, kruise-manager is called at an address.
const env = { ...process.env, WEBHOOK_HOST: '127.0.0.1', WEBHOOK_PORT: '19876' };
const start = (...args: readonly string[]) => spawn(process.execPath, [command, ...args], { stdio: 'ignore', env });

function credentialsOf(user: string): string {
  const file = join(folder, `${user.replaceAll(':', '-')}.kubeconfig`);
  const text = execFileSync(process.execPath, [command, 'kubeconfig', '--data', data, '--user', user]);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

const apart = ['controller-manager', 'cloud-controller-manager', 'scheduler', 'manager'];
const server = start('up', '--data', data, '--kubeconfig', admin, '--nodes', values.nodes, '--without', ...apart);
while (!existsSync(join(data, 'running.json'))) {
  if (server.exitCode !== null) throw new Error(`kruise up ended with ${server.exitCode}`);
  await new Promise((resolve) => setTimeout(resolve, 10));
}
const manifests = execFileSync(process.execPath, [command, 'manifests']);
execFileSync('kubectl', ['--kubeconfig', admin, 'apply', '--server-side', '--force-conflicts', '-f', '-'], {
  input: manifests,
});
const managers = ['--kubeconfig', credentialsOf('system:kube-controller-manager'), '--secure-port', '0'];
const signing = ['--cluster-signing-cert-file', join(pki, 'ca.crt'), '--cluster-signing-key-file', join(pki, 'ca.key')];
const tokens = ['--service-account-private-key-file', join(pki, 'service-account.key')];
const networks = ['--allocate-node-cidrs', '--cluster-cidr', '10.244.0.0/16'];
const processes = {
  'API server and nodes': server,
  'controller-manager': start('controller-manager', ...managers, ...signing, ...tokens, ...networks),
  'cloud-controller-manager': start('cloud-controller-manager', '--kubeconfig', admin, '--secure-port', '0'),
  scheduler: start('scheduler', '--kubeconfig', credentialsOf('system:kube-scheduler'), '--secure-port', '0'),
  manager: start('manager', '--kubeconfig', admin, '--metrics-addr', '0', '--health-probe-addr', '0'),
};
try {
  const measure = [new URL('cluster.ts', import.meta.url).pathname, '--kubeconfig', admin, '--pods', values.pods];
  const measured = spawn(process.execPath, measure, { stdio: 'inherit' });
  const code = await new Promise((resolve) => measured.once('exit', resolve));
  if (code !== 0) throw new Error(`bench/cluster.ts ended with ${code}`);
  for (const [name, { pid }] of Object.entries(processes)) {
    const { cpuMs, mib } = useOf(pid!);
    console.log(`${name}: ${(cpuMs / 1000).toFixed(1)} s of processor time, ${mib} MiB`);
  }
} finally {
  const ended = Object.values(processes).map((each) => new Promise((resolve) => each.once('exit', resolve)));
  for (const each of Object.values(processes)) each.kill();
  await Promise.all(ended);
  rmSync(folder, { recursive: true, force: true });
}
