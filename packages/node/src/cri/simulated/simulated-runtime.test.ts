import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type GrpcError, goErrorText } from '@kruise/client/grpc/status';
import type { ContainerEventResponse, ContainerStatus } from '../messages.ts';
import { instantOfNanoseconds } from '../nanoseconds.ts';
import { createSimulatedNetwork } from './network.ts';
import { simulatedNode, testStart } from './testing/simulated-node.ts';

const script = (annotations: Record<string, string>) =>
  Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`sim.kruise.io/${key}`, value]));

const http = (host: string, port: number, path = '/') => ({ host, port, path });

/** To the millisecond: each time is later than the last by a nanosecond at least. */
function lastedMs({ startedAt, finishedAt }: ContainerStatus): number {
  return Math.round(instantOfNanoseconds(finishedAt) - instantOfNanoseconds(startedAt));
}

async function addressOf({ runtime }: ReturnType<typeof simulatedNode>, podSandboxId: string): Promise<string> {
  return (await runtime.podSandboxStatus({ podSandboxId })).status.network?.ip ?? '';
}

describe('scripted life', () => {
  test('a container runs for as long as it is told, then exits as it is told', async () => {
    const node = simulatedNode();
    const annotations = script({ 'run-for': '10s', 'exit-code': '3' });
    const { containerId } = await node.runContainer({ image: 'nginx', annotations });
    await node.pass(9_999);
    assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
    await node.pass(1);
    const status = await node.status(containerId);
    assert.deepEqual([status.state, status.exitCode, status.reason], ['CONTAINER_EXITED', 3, 'Error']);
    assert.equal(lastedMs(status), 10_000);
  });

  test('exit codes go by attempt, the last for all that follow', async () => {
    const node = simulatedNode();
    const annotations = script({ 'exit-code': '1,2' });
    const codes: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      const config = { metadata: { name: 'main', attempt } };
      const { containerId } = await node.runContainer({ annotations, config });
      await node.pass(0);
      codes.push((await node.status(containerId)).exitCode);
    }
    assert.deepEqual(codes, [1, 2, 2, 2]);
  });

  test('starting takes its time, and fails as often as it is told', async () => {
    const node = simulatedNode();
    const annotations = script({ 'start-latency': '2s', 'start-error': 'no luck', 'start-failures': '1' });
    const config = { metadata: { name: 'pod', namespace: 'default', uid: 'u', attempt: 0 }, annotations };
    const sandboxId = await node.runSandbox(config);
    const failing = node.runContainer({ image: 'nginx', annotations, sandboxId });
    const failed = assert.rejects(failing, /no luck/);
    await node.pass(2000);
    await failed;
    const again = { metadata: { name: 'main', attempt: 1 } };
    const starting = node.runContainer({ image: 'nginx', annotations, sandboxId, config: again });
    await node.pass(2000);
    assert.equal((await node.status((await starting).containerId)).state, 'CONTAINER_RUNNING');
  });

  test('a sandbox fails as often as it is told, and leaves nothing behind', async () => {
    const node = simulatedNode();
    const config = {
      metadata: { name: 'pod', namespace: 'default', uid: 'u', attempt: 0 },
      annotations: script({ 'sandbox-failures': '2', 'sandbox-error': 'no network today' }),
    };
    await assert.rejects(node.runSandbox(config), /no network today/);
    await assert.rejects(node.runSandbox(config), /no network today/);
    assert.deepEqual((await node.runtime.listPodSandbox({})).items, []);
    await node.runSandbox(config);
  });

  test('a pull takes its time, tells how far it is, and fails as often as it is told', async () => {
    const node = simulatedNode();
    const image = { image: 'nginx:1.21', annotations: script({ 'pull-latency': '10s', 'pull-failures': '1' }) };
    const failed = assert.rejects(node.runtime.pullImage({ image }), /failed to pull and unpack image "nginx:1\.21"/);
    await node.pass(10_000);
    await failed;
    const done: number[] = [];
    const pull = node.runtime.pullImage(
      { image },
      { onProgress: ({ doneBytes, totalBytes }) => done.push(Math.round((100 * doneBytes) / totalBytes)) },
    );
    await node.pass(10_000);
    const { imageRef } = await pull;
    assert.deepEqual(done, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    assert.equal(
      (await node.runtime.imageStatus({ image: { image: imageRef } })).image?.repoTags[0],
      'docker.io/library/nginx:1.21',
    );
  });

  test('a pull takes as long as the image is large, and no time if it is there', async () => {
    const node = simulatedNode({ pullBytesPerSecond: 1e6 });
    const image = { image: 'busybox' };
    let pulledAt = 0;
    void node.runtime.pullImage({ image }).then(() => {
      pulledAt = node.clock.now();
    });
    await node.pass(60_000);
    const size = (await node.runtime.imageStatus({ image })).image?.size ?? 0;
    assert.ok(Math.abs(pulledAt - testStart - size / 1000) < 1);
    await node.runtime.pullImage({ image });
  });

  test('a pull that is called off ends', async () => {
    const node = simulatedNode({ pullBytesPerSecond: 1 });
    const caller = new AbortController();
    const pull = node.runtime.pullImage({ image: { image: 'nginx' } }, { signal: caller.signal });
    caller.abort();
    await assert.rejects(pull, (error) => (error as GrpcError).code === 'CANCELLED');
  });

  test('an unreadable annotation fails what it scripts', async () => {
    const node = simulatedNode();
    await assert.rejects(
      node.runSandbox({ annotations: script({ 'sandbox-latency': 'soon' }) }),
      /annotation sim\.kruise\.io\/sandbox-latency: time: invalid duration "soon"/,
    );
  });

  test('stopping takes as long as it is told', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'nginx', annotations: script({ 'stop-latency': '7s' }) });
    const stop = node.runtime.stopContainer({ containerId, timeout: 30 });
    await node.pass(7000);
    await stop;
    const status = await node.status(containerId);
    assert.deepEqual([status.exitCode, lastedMs(status)], [0, 7000]);
  });

  test('what never stops is killed', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({
      image: 'nginx',
      annotations: script({ 'stop-latency': 'never' }),
    });
    const stop = node.runtime.stopContainer({ containerId, timeout: 30 });
    await node.pass(30_000);
    await stop;
    assert.equal((await node.status(containerId)).exitCode, 137);
  });

  test('whoever calls off stopping leaves it running until the next', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ command: ['sleep', '1000'] });
    const caller = new AbortController();
    const stop = node.runtime.stopContainer({ containerId, timeout: 30 }, { signal: caller.signal });
    caller.abort();
    await assert.rejects(stop, (error) => (error as GrpcError).code === 'CANCELLED');
    await node.pass(60_000);
    assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
  });
});

describe('memory', () => {
  const linux = { resources: { memoryLimitInBytes: 100 * 2 ** 20 } };

  test('more than the limit is the end', async () => {
    const node = simulatedNode();
    const annotations = script({ memory: '200Mi' });
    const { containerId } = await node.runContainer({ image: 'nginx', annotations, config: { linux } });
    const { exitCode, reason } = await node.status(containerId);
    assert.deepEqual([exitCode, reason], [137, 'OOMKilled']);
  });

  test('a limit lowered below what is used is the end', async () => {
    const node = simulatedNode();
    const annotations = script({ memory: '80Mi' });
    const { containerId } = await node.runContainer({ image: 'nginx', annotations, config: { linux } });
    assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
    await node.runtime.updateContainerResources({ containerId, linux: { memoryLimitInBytes: 64 * 2 ** 20 } });
    assert.equal((await node.status(containerId)).reason, 'OOMKilled');
  });

  test('a block larger than the limit is the end of dd', async () => {
    const node = simulatedNode();
    const command = ['sh', '-c', 'sleep 1; dd if=/dev/zero of=/dev/null bs=200M'];
    const { containerId } = await node.runContainer({ command, config: { linux } });
    await node.pass(1000);
    assert.equal((await node.status(containerId)).reason, 'OOMKilled');
  });

  test('it runs out when it is told to', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'nginx', annotations: script({ 'oom-after': '1m' }) });
    await node.pass(60_000);
    assert.equal((await node.status(containerId)).reason, 'OOMKilled');
  });
});

describe('signals', () => {
  const cases: readonly [what: string, image: string, args: readonly string[] | undefined, exitCode: number][] = [
    ['nginx ends well', 'nginx', undefined, 0],
    ['httpd ends well', 'httpd', undefined, 0],
    ['redis ends well', 'redis', undefined, 0],
    ['pause ends well', 'registry.k8s.io/pause:3.10', undefined, 0],
    ['agnhost pause ends with 2', 'registry.k8s.io/e2e-test-images/agnhost:2.53', ['pause'], 2],
    ['agnhost netexec ends well', 'registry.k8s.io/e2e-test-images/agnhost:2.53', ['netexec'], 0],
    ['an unknown image ends well', 'acme/shop:v1', undefined, 0],
  ];
  for (const [what, image, args, exitCode] of cases) {
    test(`${what} when it is stopped`, async () => {
      const node = simulatedNode();
      const { containerId } = await node.runContainer({ image, ...(args && { args }) });
      await node.pass(3_600_000);
      assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
      await node.runtime.stopContainer({ containerId, timeout: 30 });
      assert.equal((await node.status(containerId)).exitCode, exitCode);
    });
  }

  test('a trap runs once the command before it is over', async () => {
    const node = simulatedNode();
    const command = ['sh', '-c', 'trap "echo bye; exit 0" TERM; while true; do sleep 5; done'];
    const { containerId } = await node.runContainer({ command });
    await node.pass(12_000);
    const stop = node.runtime.stopContainer({ containerId, timeout: 30 });
    await node.pass(3000);
    await stop;
    const status = await node.status(containerId);
    assert.deepEqual([status.exitCode, lastedMs(status)], [0, 15_000]);
    assert.equal(await node.log(containerId), 'bye\n');
  });
});

describe('programs of images', () => {
  test('nginx can be told to quit, as hooks do', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'nginx' });
    assert.equal((await node.sh(containerId, 'nginx -t; killall -0 nginx')).exitCode, 0);
    await node.sh(containerId, 'nginx -s quit; while killall -0 nginx; do sleep 1; done');
    const { state, exitCode } = await node.status(containerId);
    assert.deepEqual([state, exitCode], ['CONTAINER_EXITED', 0]);
  });

  const cases: readonly [image: string, command: readonly string[], state: string][] = [
    ['python', ['python', 'server.py'], 'CONTAINER_RUNNING'],
    ['python', ['python3', '-c', 'print(1)'], 'CONTAINER_EXITED'],
    ['perl', ['perl', '-Mbignum=bpi', '-wle', 'print bpi(2000)'], 'CONTAINER_EXITED'],
    ['node', ['node', 'index.js'], 'CONTAINER_RUNNING'],
  ];
  for (const [image, command, expected] of cases) {
    test(`${command.slice(0, 2).join(' ')} is ${expected}`, async () => {
      const node = simulatedNode();
      const { containerId } = await node.runContainer({ image, command });
      await node.pass(1000);
      const { state, exitCode } = await node.status(containerId);
      assert.deepEqual([state, exitCode], [expected, 0]);
    });
  }

  test('a database is probed by its own client', async () => {
    const node = simulatedNode();
    const redis = await node.runContainer({ image: 'redis:7' });
    assert.equal((await node.sh(redis.containerId, 'redis-cli ping')).stdout, 'PONG\n');
    const postgres = await node.runContainer({ image: 'postgres:16' });
    assert.equal((await node.sh(postgres.containerId, 'pg_isready -U postgres')).exitCode, 0);
    assert.equal((await node.sh(postgres.containerId, 'redis-cli ping')).exitCode, 127);
  });
});

describe('images without a word of what to run', () => {
  test('a shell without input ends at once', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'busybox' });
    await node.pass(0);
    assert.deepEqual(
      [(await node.status(containerId)).state, (await node.status(containerId)).exitCode],
      ['CONTAINER_EXITED', 0],
    );
  });

  test('a shell someone may type into waits', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'busybox', config: { stdin: true, tty: true } });
    await node.pass(60_000);
    assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
  });
});

describe('the network', () => {
  test('nginx serves its files, as they are', async () => {
    const node = simulatedNode();
    const { containerId, podSandboxId } = await node.runContainer({ image: 'nginx' });
    const host = await addressOf(node, podSandboxId);
    const get = async (path: string) => (await node.runtime.network.request(http(host, 80, path))).status;
    assert.deepEqual([await get('/'), await get('/healthz')], [200, 404]);
    await node.sh(containerId, 'echo ok > /usr/share/nginx/html/healthz; rm /usr/share/nginx/html/index.html');
    assert.deepEqual([await get('/'), await get('/healthz')], [404, 200]);
    await assert.rejects(node.runtime.network.request(http(host, 81)), {
      message: `dial tcp ${host}:81: connect: connection refused`,
    });
  });

  test('nobody answers once the container has ended', async () => {
    const node = simulatedNode();
    const { containerId, podSandboxId } = await node.runContainer({ image: 'nginx' });
    const host = await addressOf(node, podSandboxId);
    await node.runtime.stopContainer({ containerId, timeout: 0 });
    await assert.rejects(node.runtime.network.connect({ host, port: 80 }), { code: 'ECONNREFUSED' });
    await node.runtime.stopPodSandbox({ podSandboxId });
    await assert.rejects(node.runtime.network.connect({ host, port: 80 }), { code: 'EHOSTUNREACH' });
  });

  test('an unknown image answers on every port', async () => {
    const node = simulatedNode();
    const { podSandboxId } = await node.runContainer({ image: 'acme/shop:v1' });
    const host = await addressOf(node, podSandboxId);
    assert.equal((await node.runtime.network.request(http(host, 9999, '/ready'))).status, 200);
    assert.equal(await node.runtime.network.checkHealth({ host, port: 1 }), 'SERVING');
  });

  test('answers go along a timeline', async () => {
    const node = simulatedNode();
    const annotations = script({ answers: 'refuse for 5s, 503 for 5s, 200' });
    const { podSandboxId } = await node.runContainer({ image: 'nginx', annotations });
    const host = await addressOf(node, podSandboxId);
    const get = () => node.runtime.network.request(http(host, 80)).then(({ status }) => status);
    await assert.rejects(get(), { code: 'ECONNREFUSED' });
    await node.pass(5000);
    assert.equal(await get(), 503);
    await node.pass(5000);
    assert.equal(await get(), 200);
  });

  test('a server that hangs is waited for until one has had enough', async () => {
    const node = simulatedNode();
    const { podSandboxId } = await node.runContainer({ image: 'nginx', annotations: script({ answers: 'hang' }) });
    const caller = new AbortController();
    const request = node.runtime.network.request(http(await addressOf(node, podSandboxId), 80), {
      signal: caller.signal,
    });
    caller.abort(new Error('enough'));
    await assert.rejects(request, /enough/);
  });

  test('agnhost does as its flags and requests say', async () => {
    const node = simulatedNode();
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
    const { containerId, podSandboxId } = await node.runContainer({ image, args: ['netexec', '--http-port=8083'] });
    const host = await addressOf(node, podSandboxId);
    const get = async (path: string) => {
      const { status, body } = await node.runtime.network.request(http(host, 8083, path));
      return [status, Buffer.from(body).toString()];
    };
    assert.deepEqual(await get('/hostname'), [200, 'pod-1']);
    assert.deepEqual(await get('/echo?msg=hi&code=418'), [418, 'hi']);
    assert.deepEqual(await get('/shell?cmd=echo%20x'), [200, '{"output":"x\\n"}']);
    await get('/exit?code=4');
    await node.pass(0);
    assert.equal((await node.status(containerId)).exitCode, 4);
  });

  test('agnhost liveness is well for ten seconds', async () => {
    const node = simulatedNode();
    const { podSandboxId } = await node.runContainer({
      image: 'registry.k8s.io/e2e-test-images/agnhost:2.53',
      args: ['liveness'],
    });
    const host = await addressOf(node, podSandboxId);
    const get = async () => (await node.runtime.network.request(http(host, 8080, '/healthz'))).status;
    assert.equal(await get(), 200);
    await node.pass(11_000);
    assert.equal(await get(), 500);
  });

  test('Pods of different nodes reach each other, and containers of one Pod by localhost', async () => {
    const network = createSimulatedNetwork();
    const one = simulatedNode({ network, nodeAddress: '192.168.0.1' });
    const other = simulatedNode({ network, nodeAddress: '192.168.0.2', podCidr: '10.244.2.0/24' });
    const server = await one.runContainer({ image: 'nginx' });
    const host = await addressOf(one, server.podSandboxId);
    const client = await other.runContainer({ command: ['sleep', 'infinity'] });
    assert.match((await other.sh(client.containerId, `wget -qO- http://${host}`)).stdout, /Welcome to nginx/);
    const beside = await one.runContainer({
      command: ['sleep', 'infinity'],
      sandboxId: server.podSandboxId,
      config: { metadata: { name: 'beside', attempt: 0 } },
    });
    assert.match((await one.sh(beside.containerId, 'wget -qO- localhost')).stdout, /Welcome to nginx/);
  });

  test('ports of the node lead to the Pod, and are free again after it', async () => {
    const node = simulatedNode();
    const portMappings = [{ hostPort: 8080, containerPort: 80 }];
    const sandboxId = await node.runSandbox({ portMappings });
    await node.runContainer({ image: 'nginx', sandboxId });
    const get = () => node.runtime.network.request(http('192.168.0.1', 8080)).then(({ status }) => status);
    assert.equal(await get(), 200);
    await node.runtime.removePodSandbox({ podSandboxId: sandboxId });
    await assert.rejects(get(), { code: 'EHOSTUNREACH' });
  });

  test('a Pod on the node’s network listens there', async () => {
    const node = simulatedNode();
    const sandboxId = await node.runSandbox({
      linux: { securityContext: { namespaceOptions: { network: 'NODE' } } },
    });
    await node.runContainer({ image: 'nginx', sandboxId });
    assert.equal((await node.runtime.network.request(http('192.168.0.1', 80))).status, 200);
  });

  test('addresses run out, and come back', async () => {
    const node = simulatedNode({ podCidr: '10.244.9.0/30' });
    const podSandboxId = await node.runSandbox();
    await assert.rejects(node.runSandbox(), /no IP addresses available in range set: 10\.244\.9\.1-10\.244\.9\.2/);
    await node.runtime.removePodSandbox({ podSandboxId });
    await node.runSandbox();
  });

  test('without an address range the network is not ready until the kubelet tells one', async () => {
    const node = simulatedNode({ podCidr: '' });
    const isReady = async () =>
      (await node.runtime.status({})).status.conditions.find(({ type }) => type === 'NetworkReady')?.status;
    assert.equal(await isReady(), false);
    await assert.rejects(node.runSandbox(), /cni plugin not initialized/);
    await node.runtime.updateRuntimeConfig({
      runtimeConfig: { networkConfig: { podCidr: '10.1.0.0/24,fd00:1::/64' } },
    });
    assert.equal(await isReady(), true);
    const { network } = (await node.runtime.podSandboxStatus({ podSandboxId: await node.runSandbox() })).status;
    assert.deepEqual(network, { ip: '10.1.0.2', additionalIps: [{ ip: 'fd00:1::2' }] });
  });

  test('a forwarded port speaks real HTTP', async () => {
    const node = simulatedNode();
    const { podSandboxId } = await node.runContainer({ image: 'nginx' });
    const connection = await node.runtime.network.connect({ host: await addressOf(node, podSandboxId), port: 80 });
    connection.end('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    let answer = '';
    for await (const chunk of connection) answer += chunk;
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*Welcome to nginx/);
  });

  test('a Service is reached by its address and by its name', async () => {
    let host = '';
    const services = {
      route: (target: { readonly host: string; readonly port: number }) =>
        target.host === '10.96.0.7' && target.port === 8000 ? { host, port: 80 } : undefined,
      resolve: (name: string) => (name === 'web.default.svc.cluster.local' ? ['10.96.0.7'] : []),
    };
    const node = simulatedNode({ network: createSimulatedNetwork({ services }) });
    host = await addressOf(node, (await node.runContainer({ image: 'nginx' })).podSandboxId);
    const sandboxId = await node.runSandbox({ dnsConfig: { searches: ['default.svc.cluster.local'] } });
    const { containerId } = await node.runContainer({ command: ['sleep', 'infinity'], sandboxId });
    for (const url of ['10.96.0.7:8000', 'web:8000', 'web.default.svc.cluster.local:8000']) {
      assert.match((await node.sh(containerId, `wget -qO- http://${url}`)).stdout, /Welcome to nginx/, url);
    }
    assert.equal(
      (await node.sh(containerId, 'wget -qO- http://web')).stderr,
      "wget: can't connect to remote host (web): No route to host\n",
    );
    assert.equal((await node.sh(containerId, 'wget -qO- http://other')).stderr, "wget: bad address 'other'\n");
    assert.match((await node.sh(containerId, 'nslookup web')).stdout, /Address: 10\.96\.0\.7/);
  });

  test('a port nobody listens on cannot be forwarded', async () => {
    const node = simulatedNode();
    const { podSandboxId } = await node.runContainer({ image: 'nginx' });
    const session = await node.runtime.portForward({ podSandboxId });
    const { duplexPair } = await import('node:stream');
    await assert.rejects(session.connect(81, duplexPair()[0]), /connection refused/);
  });
});

describe('probes by command', () => {
  test('results go along a timeline', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'nginx', annotations: script({ exec: '1 for 5s, 0' }) });
    const probe = async () => (await node.runtime.execSync({ containerId, cmd: ['whatever'] })).exitCode;
    assert.equal(await probe(), 1);
    await node.pass(5000);
    assert.equal(await probe(), 0);
  });

  test('files decide, as in the documentation of Kubernetes', async () => {
    const node = simulatedNode();
    const command = ['/bin/sh', '-c', 'touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600'];
    const { containerId } = await node.runContainer({ command });
    const probe = async () => (await node.runtime.execSync({ containerId, cmd: ['cat', '/tmp/healthy'] })).exitCode;
    await node.pass(0);
    assert.equal(await probe(), 0);
    await node.pass(30_000);
    assert.equal(await probe(), 1);
  });
});

describe('logs', () => {
  test('a line is written every so often', async () => {
    const node = simulatedNode();
    const annotations = script({ 'log-line': 'tick', 'log-every': '10s' });
    const { containerId } = await node.runContainer({ image: 'nginx', annotations });
    await node.pass(35_000);
    assert.equal(await node.log(containerId), 'tick\ntick\ntick\ntick\n');
  });

  test('old entries make room for new ones', async () => {
    const node = simulatedNode({ maxLogBytes: 20_000 });
    const command = ['sh', '-c', 'for i in $(seq 1000); do echo line $i; done'];
    const { containerId } = await node.runContainer({ command });
    await node.pass(10_000);
    const lines = (await node.log(containerId)).trim().split('\n');
    assert.ok(lines.length < 200, `${lines.length} are kept`);
    assert.equal(lines.at(-1), 'line 1000');
  });

  test('entries have times, and can be read from one on', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ command: ['sh', '-c', 'echo a; sleep 10; echo b'] });
    await node.pass(20_000);
    const entries = await Array.fromAsync(node.runtime.logs.read({ containerId, since: testStart + 10_000 }));
    assert.deepEqual(
      entries.map(({ timestamp, content }) => `${timestamp} ${Buffer.from(content)}`),
      ['2026-01-02T03:04:15.000000000Z b'],
    );
  });

  test('long lines come in parts', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ command: ['sh', '-c', 'printf "%040000d\\n" 1'] });
    await node.pass(0);
    const parts = await Array.fromAsync(node.runtime.logs.read({ containerId }));
    assert.deepEqual(
      parts.map(({ isPartial, content }) => [isPartial, content.length]),
      [
        [true, 16_384],
        [true, 16_384],
        [false, 7232],
      ],
    );
  });

  test('what a terminal shows is all on one stream', async () => {
    const node = simulatedNode();
    const command = ['sh', '-c', 'echo out; echo err >&2'];
    const { containerId } = await node.runContainer({ command, config: { tty: true } });
    await node.pass(0);
    const streams = (await Array.fromAsync(node.runtime.logs.read({ containerId }))).map(({ stream }) => stream);
    assert.deepEqual(streams, ['stdout', 'stdout']);
  });
});

describe('files', () => {
  test('a script that is mounted can be run, if it may be', async () => {
    const node = simulatedNode();
    await node.runtime.files.makeDirectory('/volumes/scripts');
    await node.runtime.files.writeFile('/volumes/scripts/run.sh', '#!/bin/sh\necho ran $1\n', { mode: 0o755 });
    await node.runtime.files.writeFile('/volumes/scripts/plain.sh', 'echo plain\n', { mode: 0o644 });
    const mounts = [{ containerPath: '/scripts', hostPath: '/volumes/scripts', readonly: true }];
    const { containerId } = await node.runContainer({ command: ['/scripts/run.sh', 'well'], config: { mounts } });
    await node.pass(0);
    assert.equal(await node.log(containerId), 'ran well\n');
    await assert.rejects(
      node.runContainer({ command: ['/scripts/plain.sh'], config: { mounts } }),
      /exec: "\/scripts\/plain\.sh": permission denied/,
    );
  });

  test('a root that is read-only is not written to, though its mounts are', async () => {
    const node = simulatedNode();
    await node.runtime.files.makeDirectory('/volumes/data');
    const linux = { securityContext: { readonlyRootfs: true } };
    const mounts = [{ containerPath: '/data', hostPath: '/volumes/data' }];
    const { containerId } = await node.runContainer({ command: ['sleep', 'infinity'], config: { linux, mounts } });
    assert.equal((await node.sh(containerId, 'echo x > /tmp/x')).exitCode, 1);
    assert.equal((await node.sh(containerId, 'echo x > /data/x; cat /data/x /etc/hostname')).stdout, 'x\npod-1\n');
  });

  test('a removed container gives its space back', async () => {
    const node = simulatedNode();
    const used = async () => (await node.runtime.imageFsInfo({})).containerFilesystems[0]?.usedBytes;
    const before = await used();
    const { containerId } = await node.runContainer({ command: ['sleep', 'infinity'] });
    await node.sh(containerId, 'dd if=/dev/zero of=/big bs=1M count=5');
    assert.ok(((await used()) ?? 0) > 5_000_000);
    await node.runtime.removeContainer({ containerId });
    assert.equal(await used(), before);
  });

  test('a checkpoint is written where it is wanted', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ command: ['sleep', 'infinity'] });
    await node.runtime.checkpointContainer({ containerId, location: '/checkpoints/one.tar' });
    assert.ok((await node.runtime.files.stat('/checkpoints/one.tar'))?.sizeBytes);
  });
});

describe('resource use', () => {
  test('is as the Pod says, within its limits', async () => {
    const node = simulatedNode();
    const linux = { resources: { cpuQuota: 50_000, cpuPeriod: 100_000, memoryLimitInBytes: 200 * 2 ** 20 } };
    const annotations = script({ cpu: '2', memory: '50Mi', disk: '1Gi' });
    const { containerId, podSandboxId } = await node.runContainer({ image: 'nginx', annotations, config: { linux } });
    await node.pass(10_000);
    const { stats } = await node.runtime.containerStats({ containerId });
    assert.equal(stats.cpu?.usageNanoCores, 5e8);
    assert.equal(stats.cpu?.usageCoreNanoSeconds, 5e9);
    assert.equal(stats.memory?.workingSetBytes, 50 * 2 ** 20);
    assert.equal(stats.memory?.availableBytes, 150 * 2 ** 20);
    assert.equal(stats.writableLayer?.usedBytes, 2 ** 30);
    const pod = (await node.runtime.podSandboxStats({ podSandboxId })).stats.linux;
    assert.equal(pod?.cpu?.usageNanoCores, 5e8);
    assert.equal(pod?.containers.length, 1);
  });
});

describe('events', () => {
  test('tell a container’s life, and its sandbox’s', async () => {
    const node = simulatedNode();
    const told: string[] = [];
    const listener = new AbortController();
    const reading = (async () => {
      for await (const event of node.runtime.getContainerEvents({}, { signal: listener.signal }))
        told.push(shown(event));
    })();
    const { containerId, podSandboxId } = await node.runContainer({ command: ['sleep', '5'] });
    await node.pass(5000);
    await node.runtime.removePodSandbox({ podSandboxId });
    listener.abort();
    await reading;
    const names = { [containerId]: 'container', [podSandboxId]: 'sandbox' };
    assert.deepEqual(
      told.map((line) => line.replace(/[0-9a-f]{64}/, (id) => names[id] as string)),
      [
        'sandbox CREATED',
        'sandbox STARTED',
        'container CREATED',
        'container STARTED',
        'container STOPPED',
        'sandbox STOPPED',
        'container DELETED',
        'sandbox DELETED',
      ],
    );
  });
});

function shown({ containerId, containerEventType }: ContainerEventResponse): string {
  return `${containerId} ${containerEventType.replace(/^CONTAINER_|_EVENT$/g, '')}`;
}

describe('what a kubelet quotes', () => {
  test('a missing command is told of in runc’s words', async () => {
    const node = simulatedNode();
    const failure = await node.runContainer({ command: ['/does/not/exist'] }).catch((error: GrpcError) => error);
    assert.match(
      goErrorText(failure as GrpcError),
      /^rpc error: code = Unknown desc = failed to create containerd task: .*exec: "\/does\/not\/exist": stat \/does\/not\/exist: no such file or directory: unknown$/,
    );
  });

  test('an image that is not there cannot be run', async () => {
    const node = simulatedNode();
    const podSandboxId = await node.runSandbox();
    const config = { metadata: { name: 'a', attempt: 0 }, image: { image: 'nginx' } };
    const sandboxConfig = { metadata: { name: 'p', namespace: 'd', uid: 'u', attempt: 0 } };
    await assert.rejects(
      node.runtime.createContainer({ podSandboxId, config, sandboxConfig }),
      (error) => (error as GrpcError).code === 'NOT_FOUND',
    );
  });
});

test('a node that is switched off leaves nothing to wait for', async () => {
  const off = new AbortController();
  const node = simulatedNode({ signal: off.signal });
  const agnhost = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
  const loop = ['sh', '-c', 'while true; do sleep 1; done & timeout 100 sleep 200 | cat; wait'];
  const { containerId } = await node.runContainer({ command: loop });
  const delayed = await node.runContainer({ image: agnhost, args: ['netexec', '--delay-shutdown=10'] });
  await node.runContainer({
    image: 'nginx',
    annotations: script({ 'oom-after': '1h', 'log-line': 'x', 'log-every': '1s' }),
  });
  const stopping = node.runtime.stopContainer({ containerId: delayed.containerId, timeout: 30 });
  const calls = [
    node.runtime.execSync({ containerId, cmd: ['sleep', '100'], timeout: 50 }),
    node.runSandbox({ annotations: script({ 'sandbox-latency': '1h' }) }),
    node.runtime.pullImage({ image: { image: 'nginx:1.20', annotations: script({ 'pull-latency': '1h' }) } }),
  ];
  await node.pass(2000);
  assert.notEqual(node.clock.nextTimer(), undefined);
  off.abort();
  await Promise.allSettled([stopping, ...calls]);
  assert.equal(node.clock.nextTimer(), undefined);
});

test('the same seed and the same calls give the same node', async () => {
  const live = async () => {
    const node = simulatedNode();
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) {
      const { containerId } = await node.runContainer({ command: ['sh', '-c', 'echo $RANDOM; mktemp'] });
      await node.pass(1000);
      ids.push(containerId, await node.log(containerId));
    }
    return ids;
  };
  assert.deepEqual(await live(), await live());
});
