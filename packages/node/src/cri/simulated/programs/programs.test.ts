import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSimulatedNetwork } from '../network.ts';
import { durationMs, simulatedNode } from '../testing/simulated-node.ts';

describe('signals', () => {
  const cases: readonly [what: string, image: string, args: readonly string[] | undefined, exitCode: number][] = [
    ['nginx exits with 0', 'nginx', undefined, 0],
    ['httpd exits with 0', 'httpd', undefined, 0],
    ['redis exits with 0', 'redis', undefined, 0],
    ['pause exits with 0', 'registry.k8s.io/pause:3.10', undefined, 0],
    ['agnhost pause exits with 2', 'registry.k8s.io/e2e-test-images/agnhost:2.53', ['pause'], 2],
    ['agnhost netexec exits with 0', 'registry.k8s.io/e2e-test-images/agnhost:2.53', ['netexec'], 0],
    ['an unknown image exits with 0', 'acme/shop:v1', undefined, 0],
  ];
  for (const [what, image, args, exitCode] of cases) {
    test(`${what} when it is stopped`, async () => {
      const node = simulatedNode();
      const { containerId } = await node.runContainer({ image, ...(args && { args }) });
      await node.advance(3_600_000);
      assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
      await node.runtime.stopContainer({ containerId, timeout: 30 });
      assert.equal((await node.status(containerId)).exitCode, exitCode);
    });
  }

  test('a trap runs after the current command', async () => {
    const node = simulatedNode();
    const command = ['sh', '-c', 'trap "echo bye; exit 0" TERM; while true; do sleep 5; done'];
    const { containerId } = await node.runContainer({ command });
    await node.advance(12_000);
    const stop = node.runtime.stopContainer({ containerId, timeout: 30 });
    await node.advance(3000);
    await stop;
    const status = await node.status(containerId);
    assert.deepEqual([status.exitCode, durationMs(status)], [0, 15_000]);
    assert.equal(await node.log(containerId), 'bye\n');
  });
});

describe('programs of images', () => {
  test('nginx quits on request, as hooks do', async () => {
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
      await node.advance(1000);
      const { state, exitCode } = await node.status(containerId);
      assert.deepEqual([state, exitCode], [expected, 0]);
    });
  }

  test('the probe of the game server reports closed, then data loaded, then gate open', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'openkruise/minecraft-demo:probe-v0' });
    const probeAfter = async (seconds: number) => {
      await node.advance(seconds * 1000);
      const { stdout, exitCode } = await node.sh(containerId, 'bash ./probe.sh');
      return `${exitCode} ${stdout.trim()}`;
    };
    assert.equal(await probeAfter(0), '1 ');
    assert.equal(await probeAfter(5), '1 ');
    assert.equal(await probeAfter(1), '0 data');
    assert.equal(await probeAfter(9), '0 data');
    assert.equal(await probeAfter(1), '0 gate');
  });

  const privileges: readonly [noNewPrivs: boolean, output: string][] = [
    [true, 'Effective uid: 1000\n'],
    [false, 'Effective uid: 0\n'],
  ];
  for (const [noNewPrivs, output] of privileges) {
    test(`a setuid program of root ${noNewPrivs ? 'does not run' : 'runs'} as root where that is ${noNewPrivs ? 'not ' : ''}allowed`, async () => {
      const node = simulatedNode();
      const image = 'registry.k8s.io/e2e-test-images/nonewprivs:1.3';
      const linux = { securityContext: { runAsUser: 1000, noNewPrivs } };
      const { containerId } = await node.runContainer({ image, config: { linux } });
      await node.advance(0);
      assert.equal(await node.log(containerId), output);
    });
  }

  test('only a privileged container changes the network', async () => {
    const node = simulatedNode();
    const run = async (privileged: boolean) => {
      const linux = { securityContext: { privileged } };
      const { containerId } = await node.runContainer({ command: ['sleep', '9'], config: { linux } });
      const { stderr, exitCode } = await node.sh(containerId, 'ip link add dummy0 type dummy');
      return [stderr, exitCode];
    };
    assert.deepEqual(await run(false), ['ip: RTNETLINK answers: Operation not permitted\n', 2]);
    assert.deepEqual(await run(true), ['', 0]);
  });

  test('a file server serves the files of its image', async () => {
    const node = simulatedNode();
    const { podSandboxId } = await node.runContainer({ image: 'registry.k8s.io/e2e-test-images/nautilus:1.7' });
    const host = (await node.runtime.podSandboxStatus({ podSandboxId })).status.network?.ip ?? '';
    const get = async (path: string) => {
      const { status, body } = await node.runtime.network.request({ host, port: 80, path });
      return [status, Buffer.from(body).toString()];
    };
    assert.deepEqual(await get('/data.json'), [200, '{\n  "image": "nautilus.jpg"\n}\n']);
    assert.equal((await get('/'))[0], 200);
    assert.equal((await get('/none'))[0], 404);
  });

  test('serve-hostname returns the hostname', async () => {
    const node = simulatedNode();
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
    const { containerId } = await node.runContainer({
      image,
      args: ['serve-hostname', '--http=false', '--tcp', '--udp'],
    });
    assert.equal((await node.sh(containerId, 'echo x | nc -v -t -w 2 localhost 9376')).stdout, 'pod-1');
    assert.equal((await node.sh(containerId, 'echo x | nc -v -u -w 2 localhost 9376')).stdout, 'pod-1');
  });

  test('sysctls are those of the Pod', async () => {
    const node = simulatedNode();
    const sandboxId = await node.runSandbox({ linux: { sysctls: { 'kernel.shm_rmid_forced': '1' } } });
    const { containerId } = await node.runContainer({ command: ['sleep', '9'], sandboxId });
    const { stdout } = await node.sh(containerId, '/bin/sysctl kernel.shm_rmid_forced');
    assert.equal(stdout, 'kernel.shm_rmid_forced = 1\n');
    assert.equal((await node.sh(containerId, 'sysctl kernel.none')).exitCode, 1);
  });

  test('a guestbook is written to the primary and read from a replica', async () => {
    const addresses: Record<string, string> = {};
    const resolve = (name: string) => [addresses[name]].filter((address) => address !== undefined);
    const network = createSimulatedNetwork({ services: { route: () => undefined, records: () => [], resolve } });
    const node = simulatedNode({ network });
    const run = async (...args: string[]) => {
      const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
      const { podSandboxId } = await node.runContainer({ image, args: ['guestbook', ...args] });
      return (await node.runtime.podSandboxStatus({ podSandboxId })).status.network?.ip ?? '';
    };
    addresses['agnhost-replica'] = await run('--replicaof', 'agnhost-primary', '--http-port', '6379');
    addresses['agnhost-primary'] = await run('--http-port', '6379');
    await node.advance(1000);
    const host = await run('--backend-port', '6379');
    const ask = async (query: string) => {
      const { body } = await node.runtime.network.request({ host, port: 80, path: `/guestbook?${query}` });
      return Buffer.from(body).toString();
    };
    assert.equal(await ask('cmd=get&key=messages'), '{"data":""}');
    assert.equal(await ask('cmd=set&key=messages&value=hi'), '{"message":"Updated"}');
    assert.equal(await ask('cmd=get&key=messages'), '{"data":"hi"}');
  });

  test('porter serves the configured text on each port', async () => {
    const node = simulatedNode();
    const envs = [
      { key: 'SERVE_PORT_80', value: 'foo' },
      { key: 'SERVE_TLS_PORT_443', value: 'tls foo' },
    ];
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
    const run = async (...args: string[]) => {
      const annotations = { 'io.kubernetes.container.ports': '[{"containerPort":80}]' };
      const config = { envs, annotations };
      const { podSandboxId } = await node.runContainer({ image, args: ['porter', ...args], config });
      const host = (await node.runtime.podSandboxStatus({ podSandboxId })).status.network?.ip ?? '';
      return async (port: number) => {
        const { body } = await node.runtime.network.request({ host, port, path: '/', method: 'PUT' });
        return Buffer.from(body).toString();
      };
    };
    const plain = await run();
    assert.deepEqual([await plain(80), await plain(443)], ['foo', 'tls foo']);
    assert.equal(await (await run('--json-response'))(80), '{"Method":"PUT","Body":"foo"}');
  });

  test('connect reports the kind of a failure', async () => {
    const node = simulatedNode();
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
    const envs = [{ key: 'SERVE_SCTP_PORT_81', value: 'foo' }];
    const addressOf = async ({ podSandboxId }: { readonly podSandboxId: string }) =>
      (await node.runtime.podSandboxStatus({ podSandboxId })).status.network?.ip ?? '';
    const sctp = await addressOf(await node.runContainer({ image, args: ['porter'], config: { envs } }));
    const args = ['serve-hostname', '--http=false', '--tcp', '--udp', '--port=80'];
    const host = await addressOf(await node.runContainer({ image, args }));
    const client = await node.runContainer({ image, args: ['pause'] });
    const connect = async (...args: string[]) => {
      const { stderr, exitCode } = await node.sh(client.containerId, ['/agnhost', 'connect', ...args].join(' '));
      return `${exitCode} ${stderr}`.trim();
    };
    assert.equal(await connect(`${host}:80`), '0');
    assert.equal(await connect(`${host}:80`, '--protocol=udp', '--timeout=1s'), '0');
    assert.equal(await connect(`${sctp}:81`, '--protocol=sctp', '--timeout=1s'), '0');
    assert.equal(await connect(`${host}:80`, '--protocol=sctp'), '1 REFUSED');
    assert.equal(await connect(`${host}:82`, '--timeout=1s'), '1 REFUSED');
    assert.match(await connect('10.9.9.9:80'), /^1 OTHER: dial tcp 10\.9\.9\.9:80: connect: no route to host$/);
    assert.equal(await connect('none:80'), '1 DNS: lookup none: no such host');
    assert.equal(await connect('none'), '1 UNKNOWN: address none: missing port in address');
    assert.equal(await connect(`${host}:80`, '--protocol=icmp'), '1 Unsupported protocol');
  });

  test('netexec logs its requests', async () => {
    const node = simulatedNode();
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
    const { containerId } = await node.runContainer({ image, args: ['netexec'] });
    await node.sh(
      containerId,
      'curl -s "http://localhost:8080/echo?msg=prestop"; curl -s http://localhost:8080/hostname',
    );
    assert.match(await node.log(containerId), /^GET \/echo\?msg=prestop\nGET \/hostname$/m);
  });

  test('nettest records its peers', async () => {
    const node = simulatedNode();
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
    const { containerId } = await node.runContainer({ image, args: ['nettest'] });
    const script = `wget -O- --post-data='{"Source": "prestop"}' http://localhost:8080/write; wget -O- http://localhost:8080/read`;
    assert.equal(
      (await node.sh(containerId, script)).stdout,
      '{"Hostname":"pod-1"}{"Hostname":"pod-1","Received":{"prestop":1}}',
    );
  });

  test('agnhost has a second name', async () => {
    const node = simulatedNode();
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
    const { containerId } = await node.runContainer({
      image,
      command: ['/agnhost-2'],
      args: ['entrypoint-tester', 'a'],
    });
    await node.advance(0);
    assert.equal(await node.log(containerId), '[/agnhost-2 entrypoint-tester a]\n');
  });

  test('a database is probed by its own client', async () => {
    const node = simulatedNode();
    const redis = await node.runContainer({ image: 'redis:7' });
    assert.equal((await node.sh(redis.containerId, 'redis-cli ping')).stdout, 'PONG\n');
    const postgres = await node.runContainer({ image: 'postgres:16' });
    assert.equal((await node.sh(postgres.containerId, 'pg_isready -U postgres')).exitCode, 0);
    assert.equal((await node.sh(postgres.containerId, 'redis-cli ping')).exitCode, 127);
  });
});

describe('images without a command', () => {
  test('a shell without input exits at once', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'busybox' });
    await node.advance(0);
    assert.deepEqual(
      [(await node.status(containerId)).state, (await node.status(containerId)).exitCode],
      ['CONTAINER_EXITED', 0],
    );
  });

  test('a shell with an open input waits', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'busybox', config: { stdin: true, tty: true } });
    await node.advance(60_000);
    assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
  });
});
