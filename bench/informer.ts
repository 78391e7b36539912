// Syncs an informer with many Pods: this client and the official JavaScript client, each in a separate process, one
// after the other, against the same server. Without a kubeconfig an in-memory API server is started and filled.
//   node bench/informer.ts [--kubeconfig FILE] [pods]
import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { TestServer } from '@kruise/apiserver/testing/test-server';

const { values, positionals } = parseArgs({
  options: { kubeconfig: { type: 'string' }, as: { type: 'string' } },
  allowPositionals: true,
});
const count = Number(positionals[0] ?? 10_000);

/** Measurements that one process sends to the other. */
type Figures = { importMs: number; syncMs: number; cpuMs: number; mib: number; objects: number };

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function withOurs(kubeconfig: string): Promise<() => number> {
  const [{ pod: pods }, { connect }, { startInformer }, { systemClock, systemRandom }] = await Promise.all([
    import('@kruise/api/core/pod'),
    import('@kruise/client/connect'),
    import('@kruise/client/informer'),
    import('@kruise/values/system'),
  ]);
  imported();
  const { client } = connect(systemClock, { path: kubeconfig });
  const informer = startInformer(client, systemClock, systemRandom, pods, {}, new AbortController().signal);
  await informer.synced;
  return () => informer.list().length;
}

async function withOfficial(kubeconfig: string): Promise<() => number> {
  const { CoreV1Api, KubeConfig, makeInformer } = await import('@kubernetes/client-node');
  imported();
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, '/api/v1/pods', () => core.listPodForAllNamespaces());
  await informer.start();
  return () => informer.list().length;
}

// Measured from the start of the process. Modules that only the server needs are imported there.
let importMs = 0;
function imported(): void {
  importMs = performance.now();
}

/** Fills an informer and prints the measurements. */
async function measure(kubeconfig: string, as: string): Promise<void> {
  const sizeOf = await (as === 'ours' ? withOurs(kubeconfig) : withOfficial(kubeconfig));
  const syncMs = performance.now() - importMs;
  const spentMs = cpuMs();
  globalThis.gc?.();
  const mib = process.memoryUsage().rss / 2 ** 20;
  const figures: Figures = { importMs, syncMs, cpuMs: spentMs, mib, objects: sizeOf() };
  process.stdout.write(JSON.stringify(figures), () => process.exit(0));
}

async function fill({ client }: TestServer): Promise<void> {
  const { pod } = await import('@kruise/api/core/pod');
  const { serviceAccount } = await import('@kruise/api/core/serviceaccount');
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  const container = (name: string) => ({
    name,
    image: 'nginx:1.25',
    env: Array.from({ length: 8 }, (_, index) => ({ name: `SETTING_${index}`, value: `value ${index}` })),
    resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
    ports: [{ containerPort: 80 }],
  });
  for (let made = 0; made < count; made += 100) {
    await Promise.all(
      Array.from({ length: Math.min(100, count - made) }, (_, index) =>
        client.create(pod, {
          metadata: { name: `pod-${made + index}`, namespace: 'default', labels: { app: 'web', number: `${index}` } },
          spec: { containers: [container('main'), container('sidecar')] },
        }),
      ),
    );
  }
}

function inProcessOfItsOwn(kubeconfig: string, as: string): Figures {
  const file = fileURLToPath(import.meta.url);
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', file, '--kubeconfig', kubeconfig, '--as', as],
    { encoding: 'utf8', maxBuffer: 2 ** 20 },
  );
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

if (values.as !== undefined) {
  await measure(values.kubeconfig!, values.as);
} else if (values.kubeconfig !== undefined) {
  compare(values.kubeconfig);
} else {
  // The server has its own thread: it must respond while processes are awaited.
  const { Worker, isMainThread, parentPort } = await import('node:worker_threads');
  if (isMainThread) {
    const worker = new Worker(new URL(import.meta.url), { argv: [String(count)] });
    const kubeconfig = await new Promise<string>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    compare(kubeconfig);
    worker.postMessage('close');
  } else {
    const { startTestServer } = await import('@kruise/apiserver/testing/test-server');
    const server = await startTestServer({ https: true, freezeObjects: false });
    await fill(server);
    parentPort!.once('message', () => server.close());
    parentPort!.postMessage(server.kubeconfig.path);
  }
}

function compare(kubeconfig: string): void {
  console.log(`load ${loadavg()[0]!.toFixed(1)}`);
  for (const as of ['ours', 'official', 'ours', 'official']) {
    const { importMs: imports, syncMs, cpuMs: spent, mib, objects } = inProcessOfItsOwn(kubeconfig, as);
    console.log(
      `${as.padEnd(9)} ${objects} Pods: started and imported in ${imports.toFixed(0)} ms, filled in ${syncMs.toFixed(0)} ms, ` +
        `${spent.toFixed(0)} ms of processor time in all, ${mib.toFixed(0)} MiB`,
    );
  }
}
