import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { describe, test } from 'node:test';
import { ConnectError, createSimulatedNetwork } from './network.ts';
import { type SimulatedNode, scripted, simulatedNode } from './testing/simulated-node.ts';

const http = (host: string, port: number, path = '/') => ({ host, port, path });

async function addressOf({ runtime }: SimulatedNode, podSandboxId: string): Promise<string> {
  return (await runtime.podSandboxStatus({ podSandboxId })).status.network?.ip ?? '';
}

describe('the network', () => {
  test('nginx serves the current files', async () => {
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

  test('an exited container refuses connections', async () => {
    const node = simulatedNode();
    const { containerId, podSandboxId } = await node.runContainer({ image: 'nginx' });
    const host = await addressOf(node, podSandboxId);
    await node.runtime.stopContainer({ containerId, timeout: 0 });
    await assert.rejects(node.runtime.network.connect({ host, port: 80 }), { code: 'ECONNREFUSED' });
    await node.runtime.stopPodSandbox({ podSandboxId });
    await assert.rejects(node.runtime.network.connect({ host, port: 80 }), { code: 'EHOSTUNREACH' });
  });

  test('connections and datagrams are answered', async () => {
    const node = simulatedNode();
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
    const { podSandboxId } = await node.runContainer({ image, args: ['netexec', '--udp-port=80', '--http-port=80'] });
    const host = await addressOf(node, podSandboxId);
    const client = await node.runContainer({ image, args: ['netexec'] });
    const sh = async (script: string) => {
      const { stdout, exitCode } = await node.sh(client.containerId, script);
      return `${stdout} ${exitCode}`;
    };
    assert.equal(await sh(`echo hostName | nc -v -u -w 2 ${host} 80`), 'pod-1 0');
    assert.equal(await sh(`echo what | nc -u -w 2 ${host} 80`), ' 1');
    assert.match(await sh(`echo hostName | nc -v -t -w 2 ${host} 80`), /^HTTP\/1.1 400 Bad Request\r\n.* 0$/s);
    const dial = (protocol: string) =>
      `http://localhost:8080/dial?request=hostname&host=${host}&port=80&protocol=${protocol}`;
    for (const protocol of ['http', 'udp']) {
      assert.equal(await sh(`curl -g -q -s --connect-timeout 2 '${dial(protocol)}'`), '{"responses":["pod-1"]} 0');
    }
    assert.equal(
      await sh(`curl -s '${dial('http').replace('port=80', 'port=81')}'`),
      `{"errors":["dial tcp ${host}:81: connect: connection refused"]} 0`,
    );
  });

  test('the resolver of a Pod returns DNS records', async () => {
    const records = (name: string, type: string) => (name === 'web.default.svc' && type === 'A' ? ['10.96.0.7'] : []);
    const network = createSimulatedNetwork({ services: { route: () => undefined, resolve: () => [], records } });
    const node = simulatedNode({ network });
    const dnsConfig = { servers: ['10.96.0.10'], searches: ['default.svc', 'svc'] };
    const sandboxId = await node.runSandbox({ dnsConfig });
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
    const { containerId } = await node.runContainer({ image, sandboxId });
    const sh = async (script: string) => (await node.sh(containerId, script)).stdout;
    assert.equal(await sh('dig +notcp +noall +answer +search web A'), 'web.default.svc.\t30\tIN\tA\t10.96.0.7\n');
    assert.equal(await sh('dig +short web.default.svc A; dig +short web A'), '10.96.0.7\n');
    assert.equal(await sh('/agnhost dns-suffix; /agnhost dns-server-list'), 'default.svc,svc\n10.96.0.10\n');
    assert.equal(await sh('getent hosts localhost; getent hosts none; echo $?'), '127.0.0.1       localhost\n2\n');
  });

  test('a node port may be bound to loopback', async () => {
    const node = simulatedNode();
    const portMappings = [{ hostPort: 8080, containerPort: 80, hostIp: '127.0.0.1' }];
    const sandboxId = await node.runSandbox({ portMappings });
    await node.runContainer({ image: 'nginx', sandboxId });
    assert.equal((await node.runtime.network.request(http('127.0.0.1', 8080))).status, 200);
    await assert.rejects(node.runtime.network.request(http('192.168.0.1', 8080)), ConnectError);
  });

  test('an unknown image answers on every port', async () => {
    const node = simulatedNode();
    const { podSandboxId } = await node.runContainer({ image: 'acme/shop:v1' });
    const host = await addressOf(node, podSandboxId);
    assert.equal((await node.runtime.network.request(http(host, 9999, '/ready'))).status, 200);
    assert.equal(await node.runtime.network.checkHealth({ host, port: 1 }), 'SERVING');
  });

  test('responses follow a timeline', async () => {
    const node = simulatedNode();
    const annotations = scripted({ answers: 'refuse for 5s, 503 for 5s, 200' });
    const { podSandboxId } = await node.runContainer({ image: 'nginx', annotations });
    const host = await addressOf(node, podSandboxId);
    const get = () => node.runtime.network.request(http(host, 80)).then(({ status }) => status);
    await assert.rejects(get(), { code: 'ECONNREFUSED' });
    await node.advance(5000);
    assert.equal(await get(), 503);
    await node.advance(5000);
    assert.equal(await get(), 200);
  });

  test('a hanging server is waited for until the timeout', async () => {
    const node = simulatedNode();
    const { podSandboxId } = await node.runContainer({ image: 'nginx', annotations: scripted({ answers: 'hang' }) });
    const caller = new AbortController();
    const request = node.runtime.network.request(http(await addressOf(node, podSandboxId), 80), {
      signal: caller.signal,
    });
    caller.abort(new Error('enough'));
    await assert.rejects(request, /enough/);
  });

  test('agnhost follows its flags and requests', async () => {
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
    await node.advance(0);
    assert.equal((await node.status(containerId)).exitCode, 4);
  });

  test('agnhost liveness is healthy for ten seconds', async () => {
    const node = simulatedNode();
    const { podSandboxId } = await node.runContainer({
      image: 'registry.k8s.io/e2e-test-images/agnhost:2.53',
      args: ['liveness'],
    });
    const host = await addressOf(node, podSandboxId);
    const get = async () => (await node.runtime.network.request(http(host, 8080, '/healthz'))).status;
    assert.equal(await get(), 200);
    await node.advance(11_000);
    assert.equal(await get(), 500);
  });

  test('Pods of different nodes reach each other, and containers of one Pod share localhost', async () => {
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

  test('host ports forward to the Pod and are released with it', async () => {
    const node = simulatedNode();
    const portMappings = [{ hostPort: 8080, containerPort: 80 }];
    const sandboxId = await node.runSandbox({ portMappings });
    await node.runContainer({ image: 'nginx', sandboxId });
    const get = () => node.runtime.network.request(http('192.168.0.1', 8080)).then(({ status }) => status);
    assert.equal(await get(), 200);
    await node.runtime.removePodSandbox({ podSandboxId: sandboxId });
    await assert.rejects(get(), { code: 'EHOSTUNREACH' });
  });

  test('a host-network Pod listens on the node', async () => {
    const node = simulatedNode();
    const sandboxId = await node.runSandbox({
      linux: { securityContext: { namespaceOptions: { network: 'NODE' } } },
    });
    await node.runContainer({ image: 'nginx', sandboxId });
    assert.equal((await node.runtime.network.request(http('192.168.0.1', 80))).status, 200);
  });

  test('addresses are exhausted and released', async () => {
    const node = simulatedNode({ podCidr: '10.244.9.0/30' });
    const podSandboxId = await node.runSandbox();
    await assert.rejects(node.runSandbox(), /no IP addresses available in range set: 10\.244\.9\.1-10\.244\.9\.2/);
    await node.runtime.removePodSandbox({ podSandboxId });
    await node.runSandbox();
  });

  test('the network is not ready until the kubelet sets the Pod CIDR', async () => {
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

  test('a forwarded port serves real HTTP', async () => {
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
      records: () => [],
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

  test('a port without a listener cannot be forwarded', async () => {
    const node = simulatedNode();
    const { podSandboxId } = await node.runContainer({ image: 'nginx' });
    const session = await node.runtime.portForward({ podSandboxId });
    await assert.rejects(session.connect(81, duplexPair()[0]), /connection refused/);
  });
});

describe('agnhost port-forward-tester', () => {
  const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
  const environment = {
    BIND_PORT: '80',
    CHUNKS: '3',
    CHUNK_SIZE: '4',
    CHUNK_INTERVAL: '10',
    EXPECTED_CLIENT_DATA: 'abc',
  };
  const envs = Object.entries(environment).map(([key, value]) => ({ key, value }));
  const start = async () => {
    const node = simulatedNode();
    const { containerId, podSandboxId } = await node.runContainer({
      image,
      args: ['port-forward-tester'],
      config: { envs },
    });
    assert.match((await node.sh(containerId, 'netstat -na | grep LISTEN')).stdout, /^tcp .* 0\.0\.0\.0:80 .* LISTEN$/m);
    const connection = await node.runtime.network.connect({ host: await addressOf(node, podSandboxId), port: 80 });
    return { node, containerId, connection };
  };

  test('answers a client that sends the expected data', async () => {
    const { node, containerId, connection } = await start();
    connection.write('abc');
    let heard = '';
    connection.on('data', (part) => {
      heard += part;
    });
    await node.advance(1000);
    assert.equal(heard, 'x'.repeat(12));
    assert.match(await node.log(containerId), /Received expected client data\nShutting down connection\nDone\n$/);
    assert.equal((await node.status(containerId)).exitCode, 0);
  });

  test('fails if the client closes without sending', async () => {
    const { node, containerId, connection } = await start();
    connection.end();
    await node.advance(1000);
    assert.match(await node.log(containerId), /Expected to read 3 bytes from client, but got 0 instead\. err=EOF\n$/);
    assert.equal((await node.status(containerId)).exitCode, 2);
  });
});
