import assert from 'node:assert/strict';
import { request } from 'node:https';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { hasSwitched } from '@kruise/apiserver/connect/backend';
import { openRemoteCommand } from '@kruise/client/streaming/remote-command';
import { createSpdyConnection } from '@kruise/client/streaming/spdy';
import { requestToken } from '@kruise/client/subresources';
import { isPodReady } from '@kruise/machinery/pods';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { startTestNode, type TestNode, type TestPod } from '../testing/test-node.ts';
import { accessOf, delegatedAccess } from './access.ts';
import { inProcessBackend } from './in-process.ts';
import { listenKubelet } from './listen.ts';
import { parseRequestTarget } from './request-target.ts';

const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);
const { signal } = new AbortController();
const shell = { name: 'c', image: 'busybox:1.36' };

async function nodeWith(
  pod: TestPod,
): Promise<TestNode & { ask(path: string, method?: string): Promise<readonly [number, string]> }> {
  const node = await startTestNode();
  await node.create(pod);
  await node.waitUntil('web', isReady);
  const backend = inProcessBackend('https://node', node.kubelet.handler);
  const ask = async (path: string, method = 'GET') => {
    const { code, body } = await backend.send({ method, path, headers: {}, signal });
    return [code, await text(body)] as const;
  };
  return Object.assign(node, { ask });
}

async function switched(node: TestNode, path: string, protocol: string): Promise<{ socket: Duplex; head: Buffer }> {
  const answer = await inProcessBackend('https://node', node.kubelet.handler).upgrade({
    method: 'POST',
    path,
    headers: { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': protocol },
    signal,
  });
  assert.ok(hasSwitched(answer), `${answer.code}`);
  return answer;
}

const lines = { ...shell, command: ['sh', '-c', 'echo one; echo two >&2; echo three; sleep infinity'] };

test('a log is read as written', async () => {
  await using node = await nodeWith({ containers: [lines] });
  assert.deepEqual(await node.ask('/containerLogs/default/web/c'), [200, 'one\ntwo\nthree\n']);
});

const logRows: readonly (readonly [name: string, query: string, expected: RegExp])[] = [
  ['the last lines', 'tailLines=1', /^three\n$/],
  ['no lines', 'tailLines=0', /^$/],
  ['the last lines by the deprecated option', 'tail=2', /^two\nthree\n$/],
  ['a number of bytes', 'limitBytes=6', /^one\ntw$/],
  ['timestamps', 'timestamps=true&tailLines=1', /^2026-01-01T00:00:0\d\.\d{9}Z three\n$/],
  ['entries since a time', 'sinceTime=2027-01-01T00:00:00Z', /^$/],
];
for (const [name, query, expected] of logRows) {
  test(`log options select ${name}`, async () => {
    await using node = await nodeWith({ containers: [lines] });
    const [code, body] = await node.ask(`/containerLogs/default/web/c?${query}`);
    assert.equal(code, 200);
    assert.match(body, expected);
  });
}

test('a followed log ends with its container', async () => {
  await using node = await nodeWith({
    restartPolicy: 'Never',
    containers: [{ ...shell, command: ['sh', '-c', 'echo one; sleep 3; echo two'] }],
  });
  const answer = node.ask('/containerLogs/default/web/c?follow=true');
  await node.advance(5);
  assert.deepEqual(await answer, [200, 'one\ntwo\n']);
});

test('the log of the previous container is kept', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [{ ...shell, command: ['sh', '-c', 'echo $HOSTNAME; sleep 2; exit 1'] }] });
  await node.waitUntil('web', (pod) => pod?.status?.containerStatuses?.[0]?.restartCount === 1);
  const { code, body } = await node.kubelet.handler.send({
    method: 'GET',
    target: parseRequestTarget('/containerLogs/default/web/c?previous=true'),
    headers: {},
    signal,
  });
  assert.deepEqual([code, await text(body)], [200, 'web\n']);
});

test('log errors are distinct', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [{ name: 'c', image: 'docker.io/library/no-such-image:1' }] });
  await node.waitUntil(
    'web',
    (pod) => pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ImagePullBackOff',
  );
  const ask = async (path: string) => {
    const request = { method: 'GET', target: parseRequestTarget(path), headers: {}, signal };
    const { code, body } = await node.kubelet.handler.send(request);
    return [code, await text(body)];
  };
  const waiting = 'container "c" in pod "web" is waiting to start: trying and failing to pull image';
  assert.deepEqual(await ask('/containerLogs/default/web/c'), [400, waiting]);
  assert.deepEqual(await ask('/containerLogs/default/web/c?previous=true'), [
    400,
    'previous terminated container "c" in pod "web" not found',
  ]);
  assert.deepEqual(await ask('/containerLogs/default/other/c'), [404, 'pod "other" does not exist']);
  assert.deepEqual(await ask('/containerLogs/default/web/d'), [404, 'container "d" not found in pod "web"']);
  assert.deepEqual(await ask('/containerLogs/default/web/c?limitBytes=0'), [422, '{"message": "Invalid request."}']);
  assert.deepEqual(await ask('/nothing'), [404, '404 page not found']);
});

async function execute(node: TestNode, query: string, streams: { stdin: boolean; tty: boolean }, input = '') {
  const protocol = 'v4.channel.k8s.io';
  const { socket, head } = await switched(node, `/exec/default/web/c?${query}`, protocol);
  const wanted = { stdin: streams.stdin, stdout: true, stderr: !streams.tty, tty: streams.tty };
  const command = await openRemoteCommand(socket, node.clock, { protocol, head, streams: wanted });
  command.stdin?.end(input);
  const [output, errors, status] = await Promise.all([
    command.stdout ? text(command.stdout) : '',
    command.stderr ? text(command.stderr) : '',
    command.status,
  ]);
  command.close();
  return { output, errors, status };
}

test('exec runs a command in a container with its streams', async () => {
  await using node = await nodeWith({ containers: [{ ...shell, command: ['sleep', 'infinity'] }] });
  const query = 'command=sh&command=-c&command=cat;+echo+oh+>%262&input=1&output=1&error=1';
  const { output, errors, status } = await execute(node, query, { stdin: true, tty: false }, 'hello');
  assert.deepEqual([output, errors, status.status], ['hello', 'oh\n', 'Success']);
});

test('a failed command returns its exit code', async () => {
  await using node = await nodeWith({ containers: [{ ...shell, command: ['sleep', 'infinity'] }] });
  const { status } = await execute(node, 'command=sh&command=-c&command=exit+3&output=1&error=1', {
    stdin: false,
    tty: false,
  });
  assert.equal(status.reason, 'NonZeroExitCode');
  assert.deepEqual(status.details?.causes, [{ reason: 'ExitCode', message: '3' }]);
});

test('exec needs a running container', async () => {
  await using node = await nodeWith({});
  const answer = await inProcessBackend('https://node', node.kubelet.handler).upgrade({
    method: 'POST',
    path: '/exec/default/web/other?command=ls&output=1',
    headers: { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': 'v4.channel.k8s.io' },
    signal,
  });
  assert.ok(!hasSwitched(answer));
  assert.deepEqual([answer.code, await text(answer.body)], [500, 'container not found ("other")']);
});

test('a port of a Pod is forwarded through its node', async () => {
  await using node = await nodeWith({});
  const { socket, head } = await switched(node, '/portForward/default/web', 'portforward.k8s.io');
  const connection = createSpdyConnection(socket, { role: 'client', clock: node.clock, head });
  const error = await connection.open({ streamtype: 'error', port: '80', requestid: '0' });
  error.data.resume();
  const data = await connection.open({ streamtype: 'data', port: '80', requestid: '0' });
  data.data.write('GET / HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n');
  assert.match(await text(data.data), /^HTTP\/1\.1 200 OK\r\n/);
  connection.close();
});

test('usage is reported by summary and resource metrics', async () => {
  await using node = await nodeWith({ annotations: { 'sim.kruise.io/memory': '20Mi', 'sim.kruise.io/cpu': '100m' } });
  await node.advance(10);
  const summary = JSON.parse((await node.ask('/stats/summary'))[1]);
  assert.equal(summary.node.nodeName, 'node-1');
  assert.equal(summary.pods[0].podRef.name, 'web');
  assert.equal(summary.pods[0].containers[0].memory.workingSetBytes, 20 * 2 ** 20);
  const [, metrics] = await node.ask('/metrics/resource');
  assert.match(
    metrics,
    /^container_memory_working_set_bytes\{container="c",namespace="default",pod="web"\} 20971520 \d+$/m,
  );
  assert.match(metrics, /^node_cpu_usage_seconds_total \d/m);
  assert.match(metrics, /^resource_scrape_error 0$/m);
});

test('the summary reports disks, networks, processes and volumes', async () => {
  await using node = await nodeWith({
    volumes: [{ name: 'v', emptyDir: {} }],
    containers: [
      {
        ...shell,
        command: ['sh', '-c', 'printf hello > /v/file; sleep infinity'],
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
    ],
  });
  await node.advance(10);
  const { node: whole, pods } = JSON.parse((await node.ask('/stats/summary'))[1]);
  const disk = 100 * 2 ** 30;
  assert.equal(whole.fs.capacityBytes, disk);
  assert.equal(whole.fs.availableBytes + whole.fs.usedBytes, disk);
  assert.deepEqual(Object.keys(whole), [
    'nodeName',
    'startTime',
    'cpu',
    'memory',
    'fs',
    'network',
    'runtime',
    'rlimit',
    'swap',
    'systemContainers',
  ]);
  assert.ok(whole.runtime.imageFs.usedBytes > 0);
  const [pod] = pods;
  assert.equal(pod.volume[0].name, 'v');
  assert.ok(pod.volume[0].usedBytes >= 5);
  assert.equal(pod.containers[0].rootfs.usedBytes, 4096);
  assert.equal(pod.containers[0].logs.usedBytes, 0);
  assert.equal(pod['ephemeral-storage'].usedBytes, 4096 + pod.volume[0].usedBytes);
  assert.ok(pod.process_stats.process_count > 0);
  assert.equal(pod.network.name, 'eth0');
  const short = JSON.parse((await node.ask('/stats/summary?only_cpu_and_memory=true'))[1]);
  assert.deepEqual(Object.keys(short.node), ['nodeName', 'startTime', 'cpu', 'memory']);
  assert.deepEqual(Object.keys(short.pods[0].containers[0]), ['name', 'startTime', 'cpu', 'memory', 'swap']);
});

test('usage is reported under the names of cAdvisor', async () => {
  await using node = await nodeWith({
    annotations: { 'sim.kruise.io/memory': '20Mi' },
    containers: [{ name: 'c', image: 'nginx:1.25', resources: { limits: { cpu: '500m', memory: '64Mi' } } }],
  });
  const [code, metrics] = await node.ask('/metrics/cadvisor');
  assert.equal(code, 200);
  const labels =
    'container="c",id="/kubepods/pod[^"]+",image="[^"]+nginx:1.25",name="\\w+",namespace="default",pod="web"';
  assert.match(metrics, new RegExp(`^container_memory_working_set_bytes{${labels}} 20971520 \\d+$`, 'm'));
  assert.match(metrics, new RegExp(`^container_spec_memory_limit_bytes{${labels}} 67108864$`, 'm'));
  assert.match(metrics, new RegExp(`^container_spec_cpu_quota{${labels}} 50000$`, 'm'));
  assert.match(metrics, /^container_network_receive_bytes_total\{container="",[^}]*interface="eth0"\} 0 \d+$/m);
  assert.match(metrics, /^machine_cpu_cores 4$/m);
  assert.match(metrics, /^machine_memory_bytes 8589934592$/m);
});

test('probes are counted by result while their Pod exists', async () => {
  await using node = await nodeWith({
    annotations: { 'sim.kruise.io/answers': '503 for 3s, 200' },
    containers: [{ name: 'c', image: 'nginx:1.25', readinessProbe: { httpGet: { port: 80 }, periodSeconds: 1 } }],
  });
  await node.advance(3);
  const [, metrics] = await node.ask('/metrics/probes');
  const { uid } = (await node.get('web')).metadata;
  const countOf = (result: string) => {
    const labels = `container="c",namespace="default",pod="web",pod_uid="${uid}",probe_type="Readiness",result="${result}"`;
    return Number(new RegExp(`^prober_probe_total{${labels}} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0);
  };
  assert.ok(countOf('failed') >= 2 && countOf('successful') >= 3, metrics);
  assert.match(metrics, /^prober_probe_duration_seconds_count\{container="c",.*probe_type="Readiness"\} \d+$/m);
  await node.server.client.delete(podKind, { name: 'web', namespace: 'default' });
  await node.waitUntil('web', (pod) => pod === undefined);
  assert.doesNotMatch((await node.ask('/metrics/probes'))[1], /pod="web"/);
});

test('node logs are served, and containers checkpointed', async () => {
  await using node = await nodeWith({});
  await node.runtime.files.makeDirectory('/var/log/deep');
  await node.runtime.files.writeFile('/var/log/deep/syslog', 'all is well');
  assert.deepEqual(await node.ask('/logs/deep/syslog'), [200, 'all is well']);
  assert.match((await node.ask('/logs/'))[1], /<a href="deep">deep<\/a>/);
  assert.equal((await node.ask('/logs/nothing'))[0], 404);
  assert.equal((await node.ask('/logs/deep/%2e%2e/x'))[0], 400);
  const [code, body] = await node.ask('/checkpoint/default/web/c', 'POST');
  assert.equal(code, 200);
  const [location] = JSON.parse(body).items;
  assert.match(location, /^\/var\/lib\/kubelet\/checkpoints\/checkpoint-web_default-c-2026-01-01T[\d:]+Z\.tar$/);
  assert.ok(await node.runtime.files.stat(location));
  assert.equal((await node.ask('/checkpoint/default/web/d', 'POST'))[0], 404);
});

test('a kubelet reports its health checks', async () => {
  await using node = await nodeWith({});
  assert.deepEqual(await node.ask('/healthz/syncloop'), [200, 'ok']);
  assert.deepEqual(await node.ask('/healthz?verbose'), [
    200,
    '[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n',
  ]);
  assert.equal((await node.ask('/healthz/other'))[0], 404);
});

test('a kubelet reports its metrics', async () => {
  await using node = await nodeWith({});
  const [code, metrics] = await node.ask('/metrics');
  assert.equal(code, 200);
  for (const line of [
    'kubelet_node_name{node="node-1"} 1',
    'kubelet_running_pods 1',
    'kubelet_running_containers{container_state="running"} 1',
    'kubelet_started_pods_total 1',
    'kubelet_started_containers_total{container_type="container"} 1',
    'kubelet_pod_start_duration_seconds_count 1',
  ]) {
    assert.ok(metrics.split('\n').includes(line), line);
  }
});

test('Pods and the configuration are served', async () => {
  await using node = await nodeWith({});
  const pods = JSON.parse((await node.ask('/pods'))[1]);
  assert.deepEqual([pods.kind, pods.items[0].metadata.name, pods.items[0].status.phase], ['PodList', 'web', 'Running']);
  const running = JSON.parse((await node.ask('/runningpods/'))[1]);
  assert.deepEqual(running.items[0].spec.containers[0].name, 'c');
  assert.ok('kubeletconfig' in JSON.parse((await node.ask('/configz'))[1]));
  assert.deepEqual(await node.ask('/healthz'), [200, 'ok']);
});

const accessRows: readonly (readonly [method: string, path: string, verb: string, subresources: string])[] = [
  ['GET', '/stats/summary', 'get', 'stats'],
  ['GET', '/metrics/resource', 'get', 'metrics'],
  ['GET', '/logs/syslog', 'get', 'log'],
  ['GET', '/pods', 'get', 'pods,proxy'],
  ['GET', '/healthz?x=1', 'get', 'healthz,proxy'],
  ['GET', '/configz', 'get', 'configz,proxy'],
  ['POST', '/exec/default/web/c', 'create', 'proxy'],
  ['GET', '/containerLogs/default/web/c', 'get', 'proxy'],
];
for (const [method, path, verb, subresources] of accessRows) {
  test(`${method} ${path} requires ${verb} on nodes/${subresources}`, () => {
    const access = accessOf(method, parseRequestTarget(path));
    assert.deepEqual([access.verb, access.subresources.join()], [verb, subresources]);
  });
}

test('a listening kubelet serves authorized clients', async () => {
  await using node = await startTestNode();
  const now = Date.now();
  const authority = createCertificateAuthority('test', now);
  const serving = authority.issue({
    subject: { commonName: 'node-1' },
    usages: ['server auth'],
    hosts: ['127.0.0.1'],
    nowMs: now,
  });
  const certificateOf = (commonName: string) =>
    authority.issue({ subject: { commonName }, usages: ['client auth'], nowMs: now });
  const { client } = node.server;
  await client.create(clusterRole, {
    metadata: { name: 'stats' },
    rules: [{ apiGroups: [''], resources: ['nodes/stats'], verbs: ['get'] }],
  });
  await client.create(clusterRoleBinding, {
    metadata: { name: 'stats' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'stats' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'scraper' }],
  });
  const stop = new AbortController();
  const { port } = await listenKubelet(
    node.kubelet.handler,
    {
      host: '127.0.0.1',
      port: 0,
      ...serving,
      clientAuthority: authority.certificate,
      access: delegatedAccess(client, node.clock, 'node-1'),
    },
    stop.signal,
  );
  const ask = (path: string, commonName?: string) =>
    new Promise<readonly [number, string]>((resolve, reject) => {
      const pair = commonName ? certificateOf(commonName) : undefined;
      request(
        {
          host: '127.0.0.1',
          port,
          path,
          ca: authority.certificate,
          agent: false,
          ...(pair ? { cert: pair.certificate, key: pair.key } : {}),
        },
        (response) => {
          void text(response).then((body) => resolve([response.statusCode ?? 0, body]), reject);
        },
      )
        .on('error', reject)
        .end();
    });
  assert.deepEqual(await ask('/stats/summary'), [401, 'Unauthorized']);
  assert.equal((await ask('/stats/summary', 'scraper'))[0], 200);
  const forbidden = 'Forbidden (user=scraper, verb=get, resource=nodes, subresource(s)=[pods proxy])';
  assert.deepEqual(await ask('/pods', 'scraper'), [403, forbidden]);
  for (const path of ['/stats/../pods', '/stats/%2e%2e/pods', '/stats/..%2fpods', '//pods', '/stats/..\\pods']) {
    assert.deepEqual(await ask(path, 'scraper'), [400, 'invalid path'], path);
  }
  assert.deepEqual(await ask('/stats/../pods'), [401, 'Unauthorized']);
  stop.abort();
});

test('a token review is cached for two minutes', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  const asked: string[] = [];
  const counting = {
    ...client,
    create: ((
      kind: { readonly names?: unknown },
      object: { spec?: { token?: string; user?: string } },
      options?: object,
    ) => {
      asked.push(object.spec?.token === undefined ? `may ${object.spec?.user}` : 'who');
      return client.create(kind as never, object as never, options);
    }) as typeof client.create,
  };
  const access = delegatedAccess(counting, node.clock, 'node-1');
  const { status } = await requestToken(client, { name: 'default', namespace: 'default' }, { audiences: [] });
  const caller = await access.callerOf(status!.token);
  assert.equal(caller?.name, 'system:serviceaccount:default:default');
  assert.ok(caller?.groups.includes('system:serviceaccounts'));
  await access.callerOf(status!.token);
  assert.deepEqual(asked, ['who']);
  await node.advance(121);
  await access.callerOf(status!.token);
  assert.deepEqual(asked, ['who', 'who']);
  assert.equal(await access.callerOf('nonsense'), undefined);

  const metrics = { verb: 'get', subresources: ['metrics'] };
  asked.length = 0;
  assert.equal(await access.allows(caller!, metrics), false);
  assert.equal(await access.allows(caller!, metrics), false);
  assert.equal(asked.length, 1);
  await node.advance(31);
  assert.equal(await access.allows(caller!, metrics), false);
  assert.equal(asked.length, 2);
});

test('run executes a command to completion and returns its output', async () => {
  await using node = await nodeWith({ containers: [{ ...shell, command: ['sleep', 'infinity'] }] });
  assert.deepEqual(await node.ask('/run/default/web/c?cmd=echo+hello', 'POST'), [200, 'hello\n']);
  assert.equal((await node.ask('/run/default/web/other?cmd=true', 'POST'))[0], 500);
  assert.deepEqual(await node.ask('/exec/default/web/c?command=ls'), [400, 'Upgrade request required']);
});

test('a deleted Pod is not found', async () => {
  await using node = await nodeWith({});
  await node.server.client.delete(podKind, { name: 'web', namespace: 'default' });
  await node.waitUntil('web', (pod) => pod === undefined);
  assert.deepEqual(await node.ask('/containerLogs/default/web/c'), [404, 'pod "web" does not exist']);
});
