import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type GrpcError, goErrorText } from '@kruise/client/grpc/status';
import type { ContainerEventResponse } from '../messages.ts';
import { durationMs, scripted, simulatedNode, testStart } from './testing/simulated-node.ts';

describe('scripted lifecycle', () => {
  test('a container runs for the scripted time and exits with the scripted code', async () => {
    const node = simulatedNode();
    const annotations = scripted({ 'run-for': '10s', 'exit-code': '3' });
    const { containerId } = await node.runContainer({ image: 'nginx', annotations });
    await node.advance(9_999);
    assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
    await node.advance(1);
    const status = await node.status(containerId);
    assert.deepEqual([status.state, status.exitCode, status.reason], ['CONTAINER_EXITED', 3, 'Error']);
    assert.equal(durationMs(status), 10_000);
  });

  test('exit codes are used by attempt, the last one for all later attempts', async () => {
    const node = simulatedNode();
    const annotations = scripted({ 'exit-code': '1,2' });
    const codes: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      const config = { metadata: { name: 'main', attempt } };
      const { containerId } = await node.runContainer({ annotations, config });
      await node.advance(0);
      codes.push((await node.status(containerId)).exitCode);
    }
    assert.deepEqual(codes, [1, 2, 2, 2]);
  });

  test('starting has the scripted latency and failures', async () => {
    const node = simulatedNode();
    const annotations = scripted({ 'start-latency': '2s', 'start-error': 'no luck', 'start-failures': '1' });
    const config = { metadata: { name: 'pod', namespace: 'default', uid: 'u', attempt: 0 }, annotations };
    const sandboxId = await node.runSandbox(config);
    const failing = node.runContainer({ image: 'nginx', annotations, sandboxId });
    const failed = assert.rejects(failing, /no luck/);
    await node.advance(2000);
    await failed;
    const again = { metadata: { name: 'main', attempt: 1 } };
    const starting = node.runContainer({ image: 'nginx', annotations, sandboxId, config: again });
    await node.advance(2000);
    assert.equal((await node.status((await starting).containerId)).state, 'CONTAINER_RUNNING');
  });

  test('a sandbox has the scripted failures and leaves nothing behind', async () => {
    const node = simulatedNode();
    const config = {
      metadata: { name: 'pod', namespace: 'default', uid: 'u', attempt: 0 },
      annotations: scripted({ 'sandbox-failures': '2', 'sandbox-error': 'no network today' }),
    };
    await assert.rejects(node.runSandbox(config), /no network today/);
    await assert.rejects(node.runSandbox(config), /no network today/);
    assert.deepEqual((await node.runtime.listPodSandbox({})).items, []);
    await node.runSandbox(config);
  });

  test('a pull has the scripted latency, progress and failures', async () => {
    const node = simulatedNode();
    const image = { image: 'nginx:1.21', annotations: scripted({ 'pull-latency': '10s', 'pull-failures': '1' }) };
    const failed = assert.rejects(node.runtime.pullImage({ image }), /failed to pull and unpack image "nginx:1\.21"/);
    await node.advance(10_000);
    await failed;
    const done: number[] = [];
    const pull = node.runtime.pullImage(
      { image },
      { onProgress: ({ doneBytes, totalBytes }) => done.push(Math.round((100 * doneBytes) / totalBytes)) },
    );
    await node.advance(10_000);
    const { imageRef } = await pull;
    assert.deepEqual(done, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    assert.equal(
      (await node.runtime.imageStatus({ image: { image: imageRef } })).image?.repoTags[0],
      'docker.io/library/nginx:1.21',
    );
  });

  test('a pull takes time in proportion to the image size, and none if the image is present', async () => {
    const node = simulatedNode({ pullBytesPerSecond: 1e6 });
    const image = { image: 'busybox' };
    let pulledAt = 0;
    void node.runtime.pullImage({ image }).then(() => {
      pulledAt = node.clock.now();
    });
    await node.advance(60_000);
    const size = (await node.runtime.imageStatus({ image })).image?.size ?? 0;
    assert.ok(Math.abs(pulledAt - testStart - size / 1000) < 1);
    await node.runtime.pullImage({ image });
  });

  test('a pull can be aborted', async () => {
    const node = simulatedNode({ pullBytesPerSecond: 1 });
    const caller = new AbortController();
    const pull = node.runtime.pullImage({ image: { image: 'nginx' } }, { signal: caller.signal });
    caller.abort();
    await assert.rejects(pull, (error) => (error as GrpcError).code === 'CANCELLED');
  });

  test('a malformed annotation fails the scripted operation', async () => {
    const node = simulatedNode();
    await assert.rejects(
      node.runSandbox({ annotations: scripted({ 'sandbox-latency': 'soon' }) }),
      /annotation sim\.kruise\.io\/sandbox-latency: time: invalid duration "soon"/,
    );
  });

  test('stopping has the scripted latency', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({
      image: 'nginx',
      annotations: scripted({ 'stop-latency': '7s' }),
    });
    const stop = node.runtime.stopContainer({ containerId, timeout: 30 });
    await node.advance(7000);
    await stop;
    const status = await node.status(containerId);
    assert.deepEqual([status.exitCode, durationMs(status)], [0, 7000]);
  });

  test('a container that never stops is killed', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({
      image: 'nginx',
      annotations: scripted({ 'stop-latency': 'never' }),
    });
    const stop = node.runtime.stopContainer({ containerId, timeout: 30 });
    await node.advance(30_000);
    await stop;
    assert.equal((await node.status(containerId)).exitCode, 137);
  });

  test('an aborted stop leaves the container running', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ command: ['sleep', '1000'] });
    const caller = new AbortController();
    const stop = node.runtime.stopContainer({ containerId, timeout: 30 }, { signal: caller.signal });
    caller.abort();
    await assert.rejects(stop, (error) => (error as GrpcError).code === 'CANCELLED');
    await node.advance(60_000);
    assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
  });
});

describe('memory', () => {
  const linux = { resources: { memoryLimitInBytes: 100 * 2 ** 20 } };

  test('usage above the limit is OOM-killed', async () => {
    const node = simulatedNode();
    const annotations = scripted({ memory: '200Mi' });
    const { containerId } = await node.runContainer({ image: 'nginx', annotations, config: { linux } });
    const { exitCode, reason } = await node.status(containerId);
    assert.deepEqual([exitCode, reason], [137, 'OOMKilled']);
  });

  test('a limit below the usage is OOM-killed', async () => {
    const node = simulatedNode();
    const annotations = scripted({ memory: '80Mi' });
    const { containerId } = await node.runContainer({ image: 'nginx', annotations, config: { linux } });
    assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
    await node.runtime.updateContainerResources({ containerId, linux: { memoryLimitInBytes: 64 * 2 ** 20 } });
    assert.equal((await node.status(containerId)).reason, 'OOMKilled');
  });

  test('a dd block above the limit is OOM-killed', async () => {
    const node = simulatedNode();
    const command = ['sh', '-c', 'sleep 1; dd if=/dev/zero of=/dev/null bs=200M'];
    const { containerId } = await node.runContainer({ command, config: { linux } });
    await node.advance(1000);
    assert.equal((await node.status(containerId)).reason, 'OOMKilled');
  });

  test('a container is OOM-killed at the scripted time', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'nginx', annotations: scripted({ 'oom-after': '1m' }) });
    await node.advance(60_000);
    assert.equal((await node.status(containerId)).reason, 'OOMKilled');
  });
});

describe('exec probes', () => {
  test('results follow a timeline', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'nginx', annotations: scripted({ exec: '1 for 5s, 0' }) });
    const probe = async () => (await node.runtime.execSync({ containerId, cmd: ['whatever'] })).exitCode;
    assert.equal(await probe(), 1);
    await node.advance(5000);
    assert.equal(await probe(), 0);
  });

  test('files decide, as in the documentation of Kubernetes', async () => {
    const node = simulatedNode();
    const command = ['/bin/sh', '-c', 'touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600'];
    const { containerId } = await node.runContainer({ command });
    const probe = async () => (await node.runtime.execSync({ containerId, cmd: ['cat', '/tmp/healthy'] })).exitCode;
    await node.advance(0);
    assert.equal(await probe(), 0);
    await node.advance(30_000);
    assert.equal(await probe(), 1);
  });
});

describe('logs', () => {
  test('a line is written periodically', async () => {
    const node = simulatedNode();
    const annotations = scripted({ 'log-line': 'tick', 'log-every': '10s' });
    const { containerId } = await node.runContainer({ image: 'nginx', annotations });
    await node.advance(35_000);
    assert.equal(await node.log(containerId), 'tick\ntick\ntick\ntick\n');
  });

  test('old entries are dropped for new ones', async () => {
    const node = simulatedNode({ maxLogBytes: 20_000 });
    const command = ['sh', '-c', 'for i in $(seq 1000); do echo line $i; done'];
    const { containerId } = await node.runContainer({ command });
    await node.advance(10_000);
    const lines = (await node.log(containerId)).trim().split('\n');
    assert.ok(lines.length < 200, `${lines.length} are kept`);
    assert.equal(lines.at(-1), 'line 1000');
  });

  test('entries have times, and can be read since a time', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ command: ['sh', '-c', 'echo a; sleep 10; echo b'] });
    await node.advance(20_000);
    const entries = await Array.fromAsync(node.runtime.logs.read({ containerId, since: testStart + 10_000 }));
    assert.deepEqual(
      entries.map(({ timestamp, content }) => `${timestamp} ${Buffer.from(content)}`),
      ['2026-01-02T03:04:15.000000000Z b'],
    );
  });

  test('long lines are split into partial entries', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ command: ['sh', '-c', 'printf "%040000d\\n" 1'] });
    await node.advance(0);
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

  test('terminal output is on one stream', async () => {
    const node = simulatedNode();
    const command = ['sh', '-c', 'echo out; echo err >&2'];
    const { containerId } = await node.runContainer({ command, config: { tty: true } });
    await node.advance(0);
    const streams = (await Array.fromAsync(node.runtime.logs.read({ containerId }))).map(({ stream }) => stream);
    assert.deepEqual(streams, ['stdout', 'stdout']);
  });
});

describe('files', () => {
  test('a node has a hosts file to mount', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({
      command: ['sleep', '9'],
      config: { mounts: [{ containerPath: '/etc/hosts-original', hostPath: '/etc/hosts' }] },
    });
    assert.match((await node.sh(containerId, 'cat /etc/hosts-original')).stdout, /^127\.0\.0\.1\tlocalhost$/m);
  });

  test('a mounted script runs if it is executable', async () => {
    const node = simulatedNode();
    await node.runtime.files.makeDirectory('/volumes/scripts');
    await node.runtime.files.writeFile('/volumes/scripts/run.sh', '#!/bin/sh\necho ran $1\n', { mode: 0o755 });
    await node.runtime.files.writeFile('/volumes/scripts/plain.sh', 'echo plain\n', { mode: 0o644 });
    const mounts = [{ containerPath: '/scripts', hostPath: '/volumes/scripts', readonly: true }];
    const { containerId } = await node.runContainer({ command: ['/scripts/run.sh', 'well'], config: { mounts } });
    await node.advance(0);
    assert.equal(await node.log(containerId), 'ran well\n');
    for (const name of ['/scripts//run.sh', '/tmp/../scripts/run.sh']) {
      const other = await node.runContainer({ command: [name, 'as well'], config: { mounts } });
      await node.advance(0);
      assert.equal(await node.log(other.containerId), 'ran as well\n');
    }
    await assert.rejects(
      node.runContainer({ command: ['/scripts/plain.sh'], config: { mounts } }),
      /exec: "\/scripts\/plain\.sh": permission denied/,
    );
  });

  test('a read-only root cannot be written to, but its mounts can', async () => {
    const node = simulatedNode();
    await node.runtime.files.makeDirectory('/volumes/data');
    const linux = { securityContext: { readonlyRootfs: true } };
    const mounts = [{ containerPath: '/data', hostPath: '/volumes/data' }];
    const { containerId } = await node.runContainer({ command: ['sleep', 'infinity'], config: { linux, mounts } });
    assert.equal((await node.sh(containerId, 'echo x > /tmp/x')).exitCode, 1);
    assert.equal((await node.sh(containerId, 'echo x > /data/x; cat /data/x /etc/hostname')).stdout, 'x\npod-1\n');
  });

  test('a removed container frees its space', async () => {
    const node = simulatedNode();
    const used = async () => (await node.runtime.imageFsInfo({})).containerFilesystems[0]?.usedBytes;
    const before = await used();
    const { containerId } = await node.runContainer({ command: ['sleep', 'infinity'] });
    await node.sh(containerId, 'dd if=/dev/zero of=/big bs=1M count=5');
    assert.ok(((await used()) ?? 0) > 5_000_000);
    await node.runtime.removeContainer({ containerId });
    assert.equal(await used(), before);
  });

  test('a checkpoint is written to its location', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ command: ['sleep', 'infinity'] });
    await node.runtime.checkpointContainer({ containerId, location: '/checkpoints/one.tar' });
    assert.ok((await node.runtime.files.stat('/checkpoints/one.tar'))?.sizeBytes);
  });
});

describe('resource usage', () => {
  test('is as scripted, within the limits', async () => {
    const node = simulatedNode();
    const linux = { resources: { cpuQuota: 50_000, cpuPeriod: 100_000, memoryLimitInBytes: 200 * 2 ** 20 } };
    const annotations = scripted({ cpu: '2', memory: '50Mi', disk: '1Gi' });
    const { containerId, podSandboxId } = await node.runContainer({ image: 'nginx', annotations, config: { linux } });
    await node.advance(10_000);
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
  test('report the lifecycle of a container and its sandbox', async () => {
    const node = simulatedNode();
    const events: string[] = [];
    const listener = new AbortController();
    const reading = (async () => {
      for await (const event of node.runtime.getContainerEvents({}, { signal: listener.signal }))
        events.push(shown(event));
    })();
    const { containerId, podSandboxId } = await node.runContainer({ command: ['sleep', '5'] });
    await node.advance(5000);
    await node.runtime.removePodSandbox({ podSandboxId });
    listener.abort();
    await reading;
    const names = { [containerId]: 'container', [podSandboxId]: 'sandbox' };
    assert.deepEqual(
      events.map((line) => line.replace(/[0-9a-f]{64}/, (id) => names[id] as string)),
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

describe('error texts that a kubelet quotes', () => {
  test('a missing command has runc’s error message', async () => {
    const node = simulatedNode();
    const failure = await node.runContainer({ command: ['/does/not/exist'] }).catch((error: GrpcError) => error);
    assert.match(
      goErrorText(failure as GrpcError),
      /^rpc error: code = Unknown desc = failed to create containerd task: .*exec: "\/does\/not\/exist": stat \/does\/not\/exist: no such file or directory: unknown$/,
    );
  });

  test('a missing image cannot be run', async () => {
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

test('a powered-off node leaves no timers', async () => {
  const off = new AbortController();
  const node = simulatedNode({ signal: off.signal });
  const agnhost = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
  const loop = ['sh', '-c', 'while true; do sleep 1; done & timeout 100 sleep 200 | cat; wait'];
  const { containerId } = await node.runContainer({ command: loop });
  const delayed = await node.runContainer({ image: agnhost, args: ['netexec', '--delay-shutdown=10'] });
  await node.runContainer({
    image: 'nginx',
    annotations: scripted({ 'oom-after': '1h', 'log-line': 'x', 'log-every': '1s' }),
  });
  const stopping = node.runtime.stopContainer({ containerId: delayed.containerId, timeout: 30 });
  const calls = [
    node.runtime.execSync({ containerId, cmd: ['sleep', '100'], timeout: 50 }),
    node.runSandbox({ annotations: scripted({ 'sandbox-latency': '1h' }) }),
    node.runtime.pullImage({ image: { image: 'nginx:1.20', annotations: scripted({ 'pull-latency': '1h' }) } }),
  ];
  await node.advance(2000);
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
      await node.advance(1000);
      ids.push(containerId, await node.log(containerId));
    }
    return ids;
  };
  assert.deepEqual(await live(), await live());
});
