import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type GrpcError, goErrorText } from '@kruise/client/grpc/status';
import type { ContainerEventResponse } from '../messages.ts';
import { lastedMs, scripted, simulatedNode, testStart } from './testing/simulated-node.ts';

describe('scripted life', () => {
  test('a container runs for as long as it is told, then exits as it is told', async () => {
    const node = simulatedNode();
    const annotations = scripted({ 'run-for': '10s', 'exit-code': '3' });
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
    const annotations = scripted({ 'exit-code': '1,2' });
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
    const annotations = scripted({ 'start-latency': '2s', 'start-error': 'no luck', 'start-failures': '1' });
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
      annotations: scripted({ 'sandbox-failures': '2', 'sandbox-error': 'no network today' }),
    };
    await assert.rejects(node.runSandbox(config), /no network today/);
    await assert.rejects(node.runSandbox(config), /no network today/);
    assert.deepEqual((await node.runtime.listPodSandbox({})).items, []);
    await node.runSandbox(config);
  });

  test('a pull takes its time, tells how far it is, and fails as often as it is told', async () => {
    const node = simulatedNode();
    const image = { image: 'nginx:1.21', annotations: scripted({ 'pull-latency': '10s', 'pull-failures': '1' }) };
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
      node.runSandbox({ annotations: scripted({ 'sandbox-latency': 'soon' }) }),
      /annotation sim\.kruise\.io\/sandbox-latency: time: invalid duration "soon"/,
    );
  });

  test('stopping takes as long as it is told', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({
      image: 'nginx',
      annotations: scripted({ 'stop-latency': '7s' }),
    });
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
      annotations: scripted({ 'stop-latency': 'never' }),
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
    const annotations = scripted({ memory: '200Mi' });
    const { containerId } = await node.runContainer({ image: 'nginx', annotations, config: { linux } });
    const { exitCode, reason } = await node.status(containerId);
    assert.deepEqual([exitCode, reason], [137, 'OOMKilled']);
  });

  test('a limit lowered below what is used is the end', async () => {
    const node = simulatedNode();
    const annotations = scripted({ memory: '80Mi' });
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
    const { containerId } = await node.runContainer({ image: 'nginx', annotations: scripted({ 'oom-after': '1m' }) });
    await node.pass(60_000);
    assert.equal((await node.status(containerId)).reason, 'OOMKilled');
  });
});

describe('probes by command', () => {
  test('results go along a timeline', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ image: 'nginx', annotations: scripted({ exec: '1 for 5s, 0' }) });
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
    const annotations = scripted({ 'log-line': 'tick', 'log-every': '10s' });
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
  test('a node has a hosts file to mount', async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({
      command: ['sleep', '9'],
      config: { mounts: [{ containerPath: '/etc/hosts-original', hostPath: '/etc/hosts' }] },
    });
    assert.match((await node.sh(containerId, 'cat /etc/hosts-original')).stdout, /^127\.0\.0\.1\tlocalhost$/m);
  });

  test('a script that is mounted can be run, if it may be', async () => {
    const node = simulatedNode();
    await node.runtime.files.makeDirectory('/volumes/scripts');
    await node.runtime.files.writeFile('/volumes/scripts/run.sh', '#!/bin/sh\necho ran $1\n', { mode: 0o755 });
    await node.runtime.files.writeFile('/volumes/scripts/plain.sh', 'echo plain\n', { mode: 0o644 });
    const mounts = [{ containerPath: '/scripts', hostPath: '/volumes/scripts', readonly: true }];
    const { containerId } = await node.runContainer({ command: ['/scripts/run.sh', 'well'], config: { mounts } });
    await node.pass(0);
    assert.equal(await node.log(containerId), 'ran well\n');
    for (const name of ['/scripts//run.sh', '/tmp/../scripts/run.sh']) {
      const other = await node.runContainer({ command: [name, 'as well'], config: { mounts } });
      await node.pass(0);
      assert.equal(await node.log(other.containerId), 'ran as well\n');
    }
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
    const annotations = scripted({ cpu: '2', memory: '50Mi', disk: '1Gi' });
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
    annotations: scripted({ 'oom-after': '1h', 'log-line': 'x', 'log-every': '1s' }),
  });
  const stopping = node.runtime.stopContainer({ containerId: delayed.containerId, timeout: 30 });
  const calls = [
    node.runtime.execSync({ containerId, cmd: ['sleep', '100'], timeout: 50 }),
    node.runSandbox({ annotations: scripted({ 'sandbox-latency': '1h' }) }),
    node.runtime.pullImage({ image: { image: 'nginx:1.20', annotations: scripted({ 'pull-latency': '1h' }) } }),
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
