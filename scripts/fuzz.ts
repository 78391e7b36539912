/**
 * Sends mutated requests to an API server in a separate process: anonymously, as a tenant with the role `edit` in one
 * namespace, and as an operator whose writes are dry runs. Reports errors of the server:
 *
 *     node scripts/fuzz.ts [--count 1000000] [--seed 1] [--concurrency 32]
 *
 * No response is an internal error of ours, nothing is reported to `onError`, the server stays responsive, its memory
 * grows by less than the stated bound, and no iteration of its event loop takes more than 100 ms of CPU time: longer
 * ones would delay other clients. CPU time is measured rather than wall-clock time, so that a busy machine does not
 * matter.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { type ClientHttp2Session, connect } from 'node:http2';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { builtinKinds } from '@kruise/api/builtin';
import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { roleBinding } from '@kruise/api/rbac/rolebinding';
import { asDryRun, createRequestFuzzer, type FuzzedRequest } from '@kruise/apiserver/testing/request-fuzzer';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { requestToken } from '@kruise/client/subresources';
import { seededRandom } from '@kruise/values/random';

/** Maximum growth of the resident memory after the first tenth of the requests. */
const maxGrowthBytes = 256 * 2 ** 20;
const maxTurnMs = 100;
const answerMs = 20_000;
const tenant = 'tenant';

type Started = { readonly url: string; readonly tokens: { readonly tenant: string; readonly operator: string } };
type Report = {
  readonly rssBytes: number;
  /** Iterations of the event loop since the last report that took too long, in milliseconds of processor time. */
  readonly longTurns: readonly number[];
  readonly errors: readonly string[];
};

async function serve(): Promise<void> {
  let errors: string[] = [];
  const server = await startTestServer({
    https: true,
    onError: (error) => errors.push(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  });
  const { client } = server;
  const apiGroup = 'rbac.authorization.k8s.io';
  const write = ['get', 'list', 'watch', 'create', 'update', 'patch'];
  await client.create(namespaceKind, { metadata: { name: tenant } });
  // Roles are created, but never deleted: the tenant would lose its own.
  await client.create(clusterRole, {
    metadata: { name: 'write-roles' },
    rules: [{ verbs: write, apiGroups: [apiGroup], resources: ['roles', 'rolebindings'] }],
  });
  await client.create(clusterRole, {
    metadata: { name: 'operator' },
    rules: [{ verbs: write, apiGroups: ['*'], resources: ['*'] }],
  });
  const accountOf = async (name: string) => {
    // In another namespace, because the tenant would delete it.
    await client.create(serviceAccount, { metadata: { name, namespace: 'default' } });
    return [{ kind: 'ServiceAccount', name, namespace: 'default' }];
  };
  const subjects = await accountOf('tenant');
  // No controller runs here that would aggregate these into `edit`.
  for (const name of ['system:aggregate-to-edit', 'system:aggregate-to-view', 'write-roles']) {
    const roleRef = { apiGroup, kind: 'ClusterRole', name };
    await client.create(roleBinding, { metadata: { name: `may:${name}`, namespace: tenant }, roleRef, subjects });
  }
  await client.create(clusterRoleBinding, {
    metadata: { name: 'operator' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'operator' },
    subjects: await accountOf('operator'),
  });
  const tokenOf = async (name: string) =>
    (await requestToken(client, { name, namespace: 'default' }, { expirationSeconds: 86_400, audiences: [] })).status
      ?.token ?? '';
  const tokens = { tenant: await tokenOf('tenant'), operator: await tokenOf('operator') };
  let longTurns: number[] = [];
  let before = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1000;
    if (ms > maxTurnMs) longTurns.push(ms);
    before = process.threadCpuUsage();
    setTimeout(look, 5);
  };
  look();
  process.on('message', () => {
    process.send?.({ rssBytes: process.memoryUsage.rss(), longTurns, errors } satisfies Report);
    longTurns = [];
    errors = [];
  });
  process.send?.({ url: server.url, tokens } satisfies Started);
}

function next<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the server ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as T);
    });
  });
}

type Answer = { readonly code: number; readonly text: string };

function send(
  session: ClientHttp2Session,
  { method, path, headers, body }: FuzzedRequest,
  token?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(
      {
        ...headers,
        ':method': method,
        ':path': path,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      { endStream: body === undefined },
    );
    const late = setTimeout(() => reject(new Error('no answer in time')), answerMs);
    const chunks: Buffer[] = [];
    let code = 0;
    stream.once('response', (answered) => {
      code = Number(answered[':status']);
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('error', reject);
    stream.once('close', () => {
      clearTimeout(late);
      resolve({ code, text: Buffer.concat(chunks.slice(0, 4)).toString() });
    });
    if (body !== undefined) stream.end(body);
  });
}

/**
 * Returns whether the server responded with an internal error. Those without a reason are also errors of
 * kube-apiserver.
 */
function isOurFault({ code, text }: Answer): boolean {
  if (code !== 500) return code === 0 || code === 501 || code === 502;
  return /InternalError|Cannot read|is not a function|is not iterable|undefined/.test(text);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      concurrency: { type: 'string', default: '32' },
    },
  });
  const count = Number(values.count);
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { stdio: 'inherit' });
  const { url, tokens } = await next<Started>(child);
  const random = seededRandom(values.seed);
  const make = createRequestFuzzer(random, { kinds: builtinKinds, namespace: tenant });
  const ofTenant = builtinKinds.filter(({ scope }) => scope === 'Namespaced');
  const makeForTenant = createRequestFuzzer(random, { kinds: ofTenant, namespace: tenant });
  const session = connect(url, { rejectUnauthorized: false });
  const codes = new Map<number, number>();
  const faults = new Map<string, { count: number; readonly example: string }>();
  const unclassified = new Map<string, number>();
  const fault = (what: string, example: string) => {
    const known = faults.get(what);
    if (known) known.count++;
    else {
      faults.set(what, { count: 1, example });
      console.log(`\n${what}\n  ${example}`);
    }
  };
  const described = ({ method, path, headers, body }: FuzzedRequest) =>
    `${method} ${path.slice(0, 300)} ${JSON.stringify(headers)} ${Buffer.from(body ?? '')
      .toString('latin1')
      .slice(0, 3000)}`;

  let sent = 0;
  let growthFrom = 0;
  let rssBytes = 0;
  let slowest = 0;
  let longTurns = 0;
  let shownAt = 10_000;
  async function work(): Promise<void> {
    while (sent < count) {
      const turn = sent++ % 8;
      // The operator may write everything, so that the validation of every kind is reached, but only as a dry run, so
      // that the cluster stays usable.
      const request = turn < 3 ? asDryRun(make()) : turn < 6 ? makeForTenant() : make();
      const token = turn < 3 ? tokens.operator : turn < 6 ? tokens.tenant : undefined;
      try {
        const answer = await send(session, request, token);
        codes.set(answer.code, (codes.get(answer.code) ?? 0) + 1);
        if (answer.code === 500) {
          const message = messageOf(answer.text)
            .replace(/"[^"]*"|\[.*\]/g, '…')
            .slice(0, 100);
          unclassified.set(message, (unclassified.get(message) ?? 0) + 1);
        }
        if (isOurFault(answer)) fault(`${answer.code} ${messageOf(answer.text)}`, described(request));
      } catch (error) {
        fault(String(error), described(request));
      }
      if (sent % 1000 === 0) await check();
    }
  }

  let isChecking = false;
  async function check(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    const asked = next<Report>(child);
    child.send('report');
    const report = await asked;
    isChecking = false;
    ({ rssBytes } = report);
    if (growthFrom === 0 && sent >= count / 10) growthFrom = rssBytes;
    for (const error of report.errors) fault(error.split('\n').slice(0, 4).join('\n'), '');
    for (const ms of report.longTurns) {
      longTurns++;
      slowest = Math.max(slowest, ms);
    }
    if (sent >= shownAt) {
      shownAt += 10_000;
      const probe = await send(session, { method: 'GET', path: '/livez', headers: {} });
      if (probe.code !== 200) fault(`/livez is ${probe.code}`, probe.text);
      console.log(
        `${sent} sent, ${Math.round(rssBytes / 2 ** 20)} MiB, ${faults.size} faults, ${longTurns} long turns (${Math.round(slowest)} ms)`,
      );
    }
  }

  const startedAt = performance.now();
  await Promise.all(Array.from({ length: Number(values.concurrency) }, work));
  await check();
  const seconds = (performance.now() - startedAt) / 1000;
  session.destroy();
  child.removeAllListeners('exit');
  child.kill();
  const growth = rssBytes - growthFrom;
  console.log(`\n${sent} requests in ${seconds.toFixed(0)} s`);
  console.log(
    `codes: ${[...codes]
      .sort(([a], [b]) => a - b)
      .map(([code, times]) => `${code}: ${times}`)
      .join(', ')}`,
  );
  console.log('500 as kube-apiserver answers them:');
  for (const [message, times] of unclassified) console.log(`  ${times} × ${message}`);
  console.log(`memory: ${Math.round(rssBytes / 2 ** 20)} MiB, grew by ${Math.round(growth / 2 ** 20)} MiB`);
  console.log(`long turns: ${longTurns}, the longest ${Math.round(slowest)} ms`);
  for (const [what, { count: times }] of faults) console.log(`${times} × ${what}`);
  if (faults.size > 0 || longTurns > 0 || growth > maxGrowthBytes) process.exitCode = 1;
}

function messageOf(text: string): string {
  try {
    return String((JSON.parse(text) as { readonly message?: string }).message);
  } catch {
    return text.slice(0, 200);
  }
}

if (process.argv[2] === 'serve') await serve();
else await main();
