/** Conformance suite of runtimes: run against the simulated runtime and against containerd. */
import assert from 'node:assert/strict';
import { duplexPair, PassThrough } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { GrpcError } from '@kruise/client/grpc/status';
import type {
  ContainerConfig,
  ContainerState,
  ContainerStatus,
  NamespaceOption,
  PodSandboxConfig,
} from '../messages.ts';
import type { LogEntry, NodeRuntime, ProcessStreams } from '../runtime.ts';

export type Harness = {
  readonly runtime: NodeRuntime;
  /** Available image with BusyBox's tools. */
  readonly image: string;
  /** Directory of the node for test files, removed after the tests. */
  readonly folder: string;
  /** True if the runtime supports events and reports the effective user, which older runtimes do not. */
  readonly isRecent: boolean;
  /** Resolves when the condition holds; fails after half a minute of the runtime's time. */
  until(condition: () => Promise<boolean>): Promise<void>;
  close(): Promise<void>;
};

/** Namespaces that the kubelet requests, unless the Pod's containers share a process namespace. */
const ownProcesses: NamespaceOption = { network: 'POD', pid: 'CONTAINER', ipc: 'POD' };

export function describeRuntime(name: string, open: () => Promise<Harness>): void {
  describe(name, () => {
    let harness: Harness;
    let runtime: NodeRuntime;
    let pods = 0;

    before(async () => {
      harness = await open();
      runtime = harness.runtime;
      await runtime.pullImage({ image: { image: harness.image } }).catch(async (error: unknown) => {
        // Without a registry the image was imported beforehand.
        const { image } = await runtime.imageStatus({ image: { image: harness.image } });
        if (!image) throw error;
      });
    });

    after(async () => {
      for (const { id } of (await runtime.listPodSandbox({})).items) {
        await runtime.stopPodSandbox({ podSandboxId: id });
        await runtime.removePodSandbox({ podSandboxId: id });
      }
      await harness.close();
    });

    function podConfig(config: Partial<PodSandboxConfig> = {}): PodSandboxConfig {
      const podName = `conformance-${++pods}`;
      return {
        metadata: { name: podName, namespace: 'default', uid: `uid-${pods}`, attempt: 0 },
        hostname: podName,
        logDirectory: `${harness.folder}/logs/${podName}`,
        labels: { app: 'conformance', pod: podName },
        annotations: { note: 'kept as it is' },
        linux: { securityContext: { namespaceOptions: ownProcesses } },
        ...config,
      };
    }

    async function runPod(config?: Partial<PodSandboxConfig>) {
      const sandboxConfig = podConfig(config);
      await runtime.files.makeDirectory(sandboxConfig.logDirectory as string);
      const { podSandboxId } = await runtime.runPodSandbox({ config: sandboxConfig });
      return { podSandboxId, sandboxConfig };
    }

    type Pod = Awaited<ReturnType<typeof runPod>>;

    async function create({ podSandboxId, sandboxConfig }: Pod, config: Partial<ContainerConfig>): Promise<string> {
      const containerConfig: ContainerConfig = {
        metadata: { name: 'main', attempt: 0 },
        image: { image: harness.image },
        command: ['sleep', '3600'],
        logPath: 'main.log',
        linux: { securityContext: { namespaceOptions: ownProcesses } },
        ...config,
      };
      const { containerId } = await runtime.createContainer({ podSandboxId, config: containerConfig, sandboxConfig });
      return containerId;
    }

    async function start(pod: Pod, config: Partial<ContainerConfig>): Promise<string> {
      const containerId = await create(pod, config);
      await runtime.startContainer({ containerId });
      return containerId;
    }

    const shell = (script: string) => ({ command: ['sh', '-c', script] });

    const statusOf = async (containerId: string): Promise<ContainerStatus> =>
      (await runtime.containerStatus({ containerId })).status;

    async function exited(containerId: string): Promise<ContainerStatus> {
      await harness.until(async () => (await statusOf(containerId)).state === 'CONTAINER_EXITED');
      return statusOf(containerId);
    }

    async function logOf(containerId: string): Promise<LogEntry[]> {
      const entries: LogEntry[] = [];
      for await (const entry of runtime.logs.read({ containerId })) entries.push(entry);
      return entries;
    }

    const rejectsWith = (promise: Promise<unknown>, code: string) =>
      assert.rejects(promise, (error) => error instanceof GrpcError && error.code === code);

    /** Older runtimes report NOT_FOUND for removed objects, which is accepted. */
    const ignoreNotFound = (promise: Promise<void>) =>
      promise.catch((error: unknown) => {
        if (harness.isRecent || !(error instanceof GrpcError) || error.code !== 'NOT_FOUND') throw error;
      });

    test('reports its version and that it is ready', async () => {
      const { version, runtimeName, runtimeApiVersion } = await runtime.version({});
      assert.deepEqual([version, runtimeApiVersion], ['0.1.0', 'v1']);
      assert.notEqual(runtimeName, '');
      const { status } = await runtime.status({});
      const ready = Object.fromEntries(status.conditions.map((condition) => [condition.type, condition.status]));
      assert.deepEqual([ready.RuntimeReady, ready.NetworkReady], [true, true]);
    });

    describe('sandboxes', () => {
      test('are ready with an address once they have been run', async () => {
        const { podSandboxId, sandboxConfig } = await runPod();
        const { status } = await runtime.podSandboxStatus({ podSandboxId });
        assert.equal(status.state, 'SANDBOX_READY');
        assert.match(status.network?.ip ?? '', /^\d+\.\d+\.\d+\.\d+$/);
        assert.deepEqual(status.metadata, sandboxConfig.metadata);
        assert.equal(status.labels.app, 'conformance');
        assert.deepEqual(status.annotations, sandboxConfig.annotations);
        assert.equal(status.linux?.namespaces?.options?.network, 'POD');
        assert.ok(status.createdAt > 0n);
      });

      test('on the host network have no address of their own', async () => {
        const { podSandboxId } = await runPod({
          hostname: '',
          linux: { securityContext: { namespaceOptions: { ...ownProcesses, network: 'NODE' } } },
        });
        const { status } = await runtime.podSandboxStatus({ podSandboxId });
        assert.equal(status.network?.ip ?? '', '');
        assert.equal(status.linux?.namespaces?.options?.network, 'NODE');
      });

      test('are listed by id, state and labels together', async () => {
        const { podSandboxId, sandboxConfig } = await runPod();
        const list = async (filter: object) => (await runtime.listPodSandbox({ filter })).items.map(({ id }) => id);
        const labelSelector = { pod: sandboxConfig.metadata.name };
        assert.deepEqual(await list({ id: podSandboxId }), [podSandboxId]);
        assert.deepEqual(await list({ labelSelector, state: 'SANDBOX_READY' }), [podSandboxId]);
        assert.deepEqual(await list({ labelSelector, state: 'SANDBOX_NOTREADY' }), []);
        assert.deepEqual(await list({ labelSelector: { ...labelSelector, other: 'x' } }), []);
      });

      test('have IDs of 64 hexadecimal digits and ordered creation times', async () => {
        const created: bigint[] = [];
        for (const { podSandboxId } of [await runPod(), await runPod(), await runPod()]) {
          assert.match(podSandboxId, /^[0-9a-f]{64}$/);
          created.push((await runtime.podSandboxStatus({ podSandboxId })).status.createdAt);
        }
        assert.deepEqual(
          created.toSorted((a, b) => Number(a - b)),
          created,
        );
        assert.equal(new Set(created).size, created.length);
      });

      test('with an unknown runtime handler are not run and leave nothing behind', async () => {
        const config = podConfig();
        await assert.rejects(runtime.runPodSandbox({ config, runtimeHandler: 'no-such-handler' }), /no-such-handler/);
        const { items } = await runtime.listPodSandbox({ filter: { labelSelector: { pod: config.metadata.name } } });
        assert.deepEqual(items, []);
      });

      test('that do not exist can be stopped and removed, and are not found', async () => {
        const podSandboxId = 'f'.repeat(64);
        await ignoreNotFound(runtime.stopPodSandbox({ podSandboxId }));
        await ignoreNotFound(runtime.removePodSandbox({ podSandboxId }));
        await rejectsWith(runtime.podSandboxStatus({ podSandboxId }), 'NOT_FOUND');
      });

      test('reach each other by their addresses', async () => {
        const server = await runPod();
        const listening = await start(server, shell('echo up; while true; do echo hello | nc -l -p 7000; done'));
        await harness.until(async () => (await logOf(listening)).length > 0);
        const { network } = (await runtime.podSandboxStatus({ podSandboxId: server.podSandboxId })).status;
        const containerId = await start(await runPod(), {});
        const cmd = ['sh', '-c', `nc -w 2 ${network?.ip} 7000 </dev/null`];
        await harness.until(async () => {
          const { stdout } = await runtime.execSync({ containerId, cmd });
          return Buffer.from(stdout).toString() === 'hello\n';
        });
      });

      test('stop and remove their containers with them, idempotently', async () => {
        const pod = await runPod();
        const { podSandboxId } = pod;
        const containerId = await start(pod, {});
        await runtime.stopPodSandbox({ podSandboxId });
        await runtime.stopPodSandbox({ podSandboxId });
        assert.equal((await runtime.podSandboxStatus({ podSandboxId })).status.state, 'SANDBOX_NOTREADY');
        assert.equal((await exited(containerId)).exitCode, 137);
        await runtime.removePodSandbox({ podSandboxId });
        await runtime.removePodSandbox({ podSandboxId });
        await rejectsWith(runtime.podSandboxStatus({ podSandboxId }), 'NOT_FOUND');
        await rejectsWith(runtime.containerStatus({ containerId }), 'NOT_FOUND');
        assert.deepEqual((await runtime.listPodSandbox({ filter: { id: podSandboxId } })).items, []);
        assert.deepEqual((await runtime.listContainers({ filter: { podSandboxId } })).containers, []);
      });
    });

    describe('containers', () => {
      test('are created, run, and exit', async () => {
        const pod = await runPod();
        const containerId = await create(pod, {
          ...shell('exit 3'),
          labels: { role: 'test' },
          annotations: { 'io.kubernetes.container.hash': 'abc' },
        });
        const created = await statusOf(containerId);
        assert.equal(created.state, 'CONTAINER_CREATED');
        assert.deepEqual([created.startedAt, created.finishedAt], [0n, 0n]);
        await runtime.startContainer({ containerId });
        const status = await exited(containerId);
        assert.equal(status.exitCode, 3);
        assert.equal(status.reason, 'Error');
        // For a process that exits at once, runtimes may record the exit before the start.
        assert.ok(created.createdAt < status.startedAt && created.createdAt < status.finishedAt);
        assert.deepEqual(status.labels, { role: 'test' });
        assert.deepEqual(status.annotations, { 'io.kubernetes.container.hash': 'abc' });
        assert.equal(status.logPath, `${pod.sandboxConfig.logDirectory}/main.log`);
      });

      test('that exit with 0 are Completed', async () => {
        const status = await exited(await start(await runPod(), { command: ['true'] }));
        assert.deepEqual([status.exitCode, status.reason], [0, 'Completed']);
      });

      test('report their image by name and its resolved reference', async () => {
        const status = await statusOf(await create(await runPod(), {}));
        assert.equal(status.image.image, harness.image);
        const { image } = await runtime.imageStatus({ image: { image: harness.image } });
        assert.ok([image?.id, ...(image?.repoDigests ?? [])].includes(status.imageRef));
      });

      test('cannot be started twice', async () => {
        const containerId = await start(await runPod(), {});
        await rejectsWith(runtime.startContainer({ containerId }), 'UNKNOWN');
      });

      test('have unique names in a sandbox', async () => {
        const pod = await runPod();
        await create(pod, {});
        await assert.rejects(create(pod, {}), /is reserved/);
        await create(pod, { metadata: { name: 'main', attempt: 1 } });
      });

      test('with a missing command fail to start with a message', async () => {
        const containerId = await create(await runPod(), { command: ['no-such-command'] });
        await assert.rejects(
          runtime.startContainer({ containerId }),
          /exec: "no-such-command": executable file not found in \$PATH/,
        );
        const status = await statusOf(containerId);
        assert.deepEqual([status.state, status.exitCode, status.reason], ['CONTAINER_EXITED', 128, 'StartError']);
        assert.match(status.message, /executable file not found/);
      });

      test('are listed by sandbox, state and labels together', async () => {
        const pod = await runPod();
        const { podSandboxId } = pod;
        const one = await start(pod, { labels: { n: '1' } });
        const two = await create(pod, { metadata: { name: 'two', attempt: 0 }, labels: { n: '2' } });
        const list = async (filter: object) =>
          (await runtime.listContainers({ filter })).containers.map(({ id }) => id).sort();
        assert.deepEqual(await list({ podSandboxId }), [one, two].sort());
        assert.deepEqual(await list({ podSandboxId, state: 'CONTAINER_RUNNING' satisfies ContainerState }), [one]);
        assert.deepEqual(await list({ podSandboxId, labelSelector: { n: '2' } }), [two]);
        assert.deepEqual(await list({ podSandboxId, labelSelector: { n: '3' } }), []);
        assert.deepEqual(await list({ id: one, podSandboxId, labelSelector: { n: '2' } }), []);
        const { containers } = await runtime.listContainers({});
        const states = new Map(containers.map(({ id, state }) => [id, state]));
        assert.deepEqual([states.get(one), states.get(two)], ['CONTAINER_RUNNING', 'CONTAINER_CREATED']);
      });

      test('are removed while they run, idempotently', async () => {
        const containerId = await start(await runPod(), {});
        await runtime.removeContainer({ containerId });
        await runtime.removeContainer({ containerId });
        await rejectsWith(runtime.containerStatus({ containerId }), 'NOT_FOUND');
      });

      test('that do not exist can be stopped and removed, and are not found', async () => {
        const containerId = 'f'.repeat(64);
        await ignoreNotFound(runtime.stopContainer({ containerId, timeout: 1 }));
        await ignoreNotFound(runtime.removeContainer({ containerId }));
        await rejectsWith(runtime.containerStatus({ containerId }), 'NOT_FOUND');
        await rejectsWith(runtime.startContainer({ containerId }), 'NOT_FOUND');
      });

      test('with a missing host path get an empty directory', async () => {
        const hostPath = `${harness.folder}/absent/deep`;
        await start(await runPod(), { mounts: [{ containerPath: '/data', hostPath }] });
        assert.equal((await runtime.files.stat(hostPath))?.type, 'directory');
      });

      test('have the attempt number they were created with', async () => {
        const containerId = await create(await runPod(), { metadata: { name: 'main', attempt: 7 } });
        assert.deepEqual((await statusOf(containerId)).metadata, { name: 'main', attempt: 7 });
      });

      test('have the environment and working directory of their config', async () => {
        const pod = await runPod();
        const containerId = await start(pod, {
          ...shell('echo $A; echo $B; pwd; hostname'),
          envs: [
            { key: 'A', value: 'one' },
            { key: 'B', value: 'two words' },
          ],
          workingDir: '/tmp',
        });
        await exited(containerId);
        const lines = (await logOf(containerId)).map(({ content }) => Buffer.from(content).toString());
        assert.deepEqual(lines, ['one', 'two words', '/tmp', pod.sandboxConfig.hostname]);
      });
    });

    describe('stopping', () => {
      test('a process that ignores the stop signal is killed after the grace period', async () => {
        const containerId = await start(await runPod(), shell('trap "" TERM; echo up; sleep 3600'));
        await harness.until(async () => (await logOf(containerId)).length > 0);
        const stopping = runtime.stopContainer({ containerId, timeout: 1 });
        const status = await exited(containerId);
        await stopping;
        assert.deepEqual([status.exitCode, status.reason], [137, 'Error']);
      });

      test('the first process of a container ignores a signal without a handler', async () => {
        const containerId = await start(await runPod(), {});
        const stopping = runtime.stopContainer({ containerId, timeout: 1 });
        assert.equal((await exited(containerId)).exitCode, 137);
        await stopping;
      });

      test('a process in the Pod’s own process namespace ends with the signal', async () => {
        const linux = { securityContext: { namespaceOptions: { ...ownProcesses, pid: 'POD' as const } } };
        const containerId = await start(await runPod({ linux }), { linux });
        await runtime.stopContainer({ containerId, timeout: 20 });
        assert.equal((await exited(containerId)).exitCode, 143);
      });

      test('a process that handles the stop signal chooses its exit code', async () => {
        const containerId = await start(await runPod(), shell('trap "exit 7" TERM; echo up; sleep 3600 & wait'));
        await harness.until(async () => (await logOf(containerId)).length > 0);
        await runtime.stopContainer({ containerId, timeout: 20 });
        assert.equal((await statusOf(containerId)).exitCode, 7);
      });

      test('a container without a grace period is killed at once', async () => {
        const containerId = await start(await runPod(), {});
        await runtime.stopContainer({ containerId, timeout: 0 });
        assert.equal((await exited(containerId)).exitCode, 137);
      });

      test('a container that has stopped or does not exist can be stopped', async () => {
        const containerId = await start(await runPod(), { command: ['true'] });
        await exited(containerId);
        await runtime.stopContainer({ containerId, timeout: 10 });
      });
    });

    describe('logs', () => {
      test('contain the output by stream', async () => {
        const containerId = await start(await runPod(), shell('echo out; echo err >&2; printf unended'));
        await exited(containerId);
        const entries = (await logOf(containerId)).map(({ stream, content }) => `${stream} ${Buffer.from(content)}`);
        assert.deepEqual(entries.sort(), ['stderr err', 'stdout out', 'stdout unended']);
      });

      test('can be read from their end', async () => {
        const containerId = await start(await runPod(), shell('for i in 1 2 3 4 5; do echo $i; done'));
        await exited(containerId);
        const tail: string[] = [];
        for await (const { content } of runtime.logs.read({ containerId, tailLines: 2 })) {
          tail.push(Buffer.from(content).toString());
        }
        assert.deepEqual(tail, ['4', '5']);
      });

      test('can be followed until the container ends', async () => {
        const containerId = await start(await runPod(), shell('echo one; sleep 1; echo two'));
        const lines: string[] = [];
        const reading = (async () => {
          for await (const { content } of runtime.logs.read({ containerId, follow: true })) {
            lines.push(Buffer.from(content).toString());
          }
        })();
        await exited(containerId);
        let isRead = false;
        void reading.then(() => {
          isRead = true;
        });
        await harness.until(async () => isRead);
        assert.deepEqual(lines, ['one', 'two']);
      });

      test('continue in a new file after the old one was renamed', async () => {
        const pod = await runPod();
        const data = `${harness.folder}/signal-${pod.sandboxConfig.metadata.name}`;
        await runtime.files.makeDirectory(data);
        const containerId = await start(pod, {
          ...shell('echo before; while [ ! -e /data/go ]; do sleep 0.1; done; echo after'),
          mounts: [{ containerPath: '/data', hostPath: data }],
        });
        await harness.until(async () => (await logOf(containerId)).length > 0);
        const path = (await statusOf(containerId)).logPath;
        // Some runtimes keep logs elsewhere and have no file to move.
        const isFile = (await runtime.files.stat(path)) !== undefined;
        if (isFile) await runtime.files.rename(path, `${path}.1`);
        await runtime.reopenContainerLog({ containerId });
        await runtime.files.writeFile(`${data}/go`, '');
        await exited(containerId);
        const moved = isFile ? Buffer.from(await runtime.files.readFile(`${path}.1`)).toString() : '';
        const lines = (await logOf(containerId)).map(({ content }) => Buffer.from(content).toString());
        assert.deepEqual(lines, isFile ? ['after'] : ['before', 'after']);
        if (isFile) assert.match(moved, /^\S+ stdout F before\n$/);
      });

      test('of an unknown container are not found', async () => {
        await rejectsWith(
          runtime.logs
            .read({ containerId: 'f'.repeat(64) })
            [Symbol.asyncIterator]()
            .next(),
          'NOT_FOUND',
        );
      });
    });

    describe('mounts', () => {
      test('are visible on both sides', async () => {
        const path = `${harness.folder}/volume`;
        await runtime.files.makeDirectory(path);
        await runtime.files.writeFile(`${path}/in`, 'from the host\n');
        const mounts = [{ containerPath: '/data', hostPath: path }];
        const containerId = await start(await runPod(), { ...shell('cat /data/in; echo back > /data/out'), mounts });
        await exited(containerId);
        assert.equal(Buffer.from((await logOf(containerId))[0]?.content ?? []).toString(), 'from the host');
        assert.equal(Buffer.from(await runtime.files.readFile(`${path}/out`)).toString(), 'back\n');
        const [mount] = (await statusOf(containerId)).mounts;
        assert.deepEqual([mount?.containerPath, mount?.hostPath], ['/data', path]);
      });

      test('that are read-only cannot be written to', async () => {
        const path = `${harness.folder}/readonly`;
        await runtime.files.makeDirectory(path);
        const mounts = [{ containerPath: '/data', hostPath: path, readonly: true }];
        const status = await exited(await start(await runPod(), { ...shell('echo x > /data/x'), mounts }));
        assert.notEqual(status.exitCode, 0);
        assert.deepEqual(await runtime.files.list(path), []);
      });

      test('of single files are writable, for termination messages', async () => {
        const path = `${harness.folder}/termination`;
        await runtime.files.writeFile(path, '', { mode: 0o666 });
        const mounts = [{ containerPath: '/dev/termination-log', hostPath: path }];
        const config = { ...shell('echo -n gone wrong > /dev/termination-log; exit 1'), mounts };
        await exited(await start(await runPod(), config));
        assert.equal(Buffer.from(await runtime.files.readFile(path)).toString(), 'gone wrong');
      });
    });

    describe('commands in a container', () => {
      test('return their output and exit code', async () => {
        const containerId = await start(await runPod(), {});
        const cmd = ['sh', '-c', 'echo out; echo err >&2; exit 5'];
        const { stdout, stderr, exitCode } = await runtime.execSync({ containerId, cmd });
        assert.deepEqual(
          [Buffer.from(stdout).toString(), Buffer.from(stderr).toString(), exitCode],
          ['out\n', 'err\n', 5],
        );
      });

      test('are killed after their timeout', async () => {
        const containerId = await start(await runPod(), {});
        let failure: unknown;
        runtime.execSync({ containerId, cmd: ['sleep', '100'], timeout: 1 }).catch((error: unknown) => {
          failure = error;
        });
        await harness.until(async () => failure !== undefined);
        assert.equal((failure as GrpcError).code, 'DEADLINE_EXCEEDED');
      });

      test('that do not exist are reported', async () => {
        const containerId = await start(await runPod(), {});
        await assert.rejects(
          runtime.execSync({ containerId, cmd: ['nope'] }),
          /exec: "nope": executable file not found/,
        );
      });

      test('do not run in an exited container', async () => {
        const containerId = await start(await runPod(), { command: ['true'] });
        await exited(containerId);
        await assert.rejects(runtime.execSync({ containerId, cmd: ['true'] }), /CONTAINER_EXITED state/);
      });

      test('read from and write to streams', async () => {
        const containerId = await start(await runPod(), {});
        const request = {
          containerId,
          cmd: ['sh', '-c', 'cat; echo done >&2; exit 4'],
          stdin: true,
          stdout: true,
          stderr: true,
        };
        const { streams, written } = nearStreams();
        streams.stdin.end('typed\n');
        const { exitCode } = await (await runtime.exec(request)).connect(streams);
        assert.deepEqual([exitCode, written.stdout(), written.stderr()], [4, 'typed\n', 'done\n']);
      });

      test('need a stream, and no stderr with a terminal', async () => {
        const containerId = await start(await runPod(), {});
        await rejectsWith(runtime.exec({ containerId, cmd: ['true'] }), 'INVALID_ARGUMENT');
        const request = { containerId, cmd: ['true'], tty: true, stdout: true, stderr: true };
        await rejectsWith(runtime.exec(request), 'INVALID_ARGUMENT');
      });

      test('have a terminal if requested', async () => {
        const containerId = await start(await runPod(), {});
        const { streams, written } = nearStreams();
        const session = await runtime.exec({ containerId, cmd: ['sh'], tty: true, stdin: true, stdout: true });
        const running = session.connect({ ...streams, stderr: undefined });
        streams.stdin.write('echo $((40 + 2))\r');
        await harness.until(async () => written.stdout().includes('42\r\n'));
        streams.stdin.write('exit 6\r');
        assert.equal((await running).exitCode, 6);
      });
    });

    test('a container can be attached to, and reads its input', async () => {
      const containerId = await start(await runPod(), {
        ...shell('read x; echo got $x'),
        stdin: true,
        stdinOnce: true,
      });
      const { streams, written } = nearStreams();
      const session = await runtime.attach({ containerId, stdin: true, stdout: true, stderr: true });
      const attached = session.connect(streams);
      streams.stdin.end('this\n');
      await attached;
      assert.equal(written.stdout(), 'got this\n');
      assert.equal((await exited(containerId)).exitCode, 0);
    });

    test('ports of a sandbox can be forwarded', async () => {
      const pod = await runPod();
      const containerId = await start(pod, shell('echo up; while true; do echo hello | nc -l -p 7000; done'));
      await harness.until(async () => (await logOf(containerId)).length > 0);
      const session = await runtime.portForward({ podSandboxId: pod.podSandboxId });
      let answer = '';
      await harness.until(async () => {
        const [near, far] = duplexPair();
        near.on('data', (chunk: Buffer) => {
          answer += chunk.toString();
        });
        near.end();
        await session.connect(7000, far).catch(() => {});
        return answer.includes('hello');
      });
      assert.match(answer, /hello/);
      session.close();
    });

    test('resources can be changed while a container runs', async () => {
      const containerId = await start(await runPod(), {
        linux: {
          resources: { cpuShares: 100, cpuPeriod: 100_000, cpuQuota: 50_000, memoryLimitInBytes: 64 * 2 ** 20 },
        },
      });
      await runtime.updateContainerResources({ containerId, linux: { cpuShares: 200 } });
      const { resources } = await statusOf(containerId);
      // Older runtimes do not report the resources.
      if (harness.isRecent || resources) assert.equal(resources?.linux?.cpuShares, 200);
      assert.equal((await statusOf(containerId)).state, 'CONTAINER_RUNNING');
    });

    test('container stats are reported', async () => {
      const pod = await runPod();
      const containerId = await start(pod, {});
      const { stats } = await runtime.containerStats({ containerId });
      assert.equal(stats.attributes.id, containerId);
      assert.ok((stats.memory?.workingSetBytes ?? -1) >= 0);
      assert.ok((stats.cpu?.usageCoreNanoSeconds ?? -1) >= 0);
      const { podSandboxId } = pod;
      const listed = await runtime.listContainerStats({ filter: { podSandboxId } });
      assert.deepEqual(
        listed.stats.map(({ attributes }) => attributes.id),
        [containerId],
      );
    });

    describe('images', () => {
      test('are found by name, short name, ID and ID prefix', async () => {
        const byName = async (image: string) => (await runtime.imageStatus({ image: { image } })).image;
        const full = await byName(harness.image);
        assert.ok(full && full.size > 0);
        assert.ok(full.repoTags.includes(harness.image));
        const short = harness.image.replace('docker.io/library/', '');
        for (const name of [short, full.id, full.id.slice('sha256:'.length, 20)]) {
          assert.equal((await byName(name))?.id, full.id, name);
        }
      });

      test('are found by their digest', async () => {
        const { image } = await runtime.imageStatus({ image: { image: harness.image } });
        for (const digest of image?.repoDigests ?? []) {
          assert.equal((await runtime.imageStatus({ image: { image: digest } })).image?.id, image?.id);
        }
        const { images } = await runtime.listImages({ filter: { image: { image: harness.image } } });
        // Older runtimes list all images.
        const found = harness.isRecent ? images : images.filter(({ repoTags }) => repoTags.includes(harness.image));
        assert.deepEqual(
          found.map(({ id }) => id),
          [image?.id],
        );
      });

      test('that do not exist are no error', async () => {
        assert.equal((await runtime.imageStatus({ image: { image: 'docker.io/library/absent:1' } })).image, undefined);
        await runtime.removeImage({ image: { image: 'docker.io/library/absent:1' } });
      });

      test('of a registry that does not exist cannot be pulled', async () => {
        await assert.rejects(
          runtime.pullImage({ image: { image: 'invalid.registry.k8s.io/invalid/alpine:3.1' } }),
          /failed to pull and unpack image "invalid\.registry\.k8s\.io\/invalid\/alpine:3\.1"/,
        );
      });

      test('use disk space', async () => {
        // The usage is not computed on each call.
        await harness.until(async () => ((await runtime.imageFsInfo({})).imageFilesystems[0]?.usedBytes ?? 0) > 0);
        const { images } = await runtime.listImages({});
        assert.ok(images.some(({ repoTags }) => repoTags.includes(harness.image)));
      });
    });

    test('container events are streamed', async () => {
      const events = runtime.getContainerEvents({})[Symbol.asyncIterator]();
      if (!harness.isRecent) {
        await rejectsWith(events.next(), 'UNIMPLEMENTED');
        return;
      }
      const pod = await runPod();
      const containerId = await start(pod, { command: ['true'] });
      await exited(containerId);
      const eventTypes: string[] = [];
      while (!eventTypes.includes('CONTAINER_STOPPED_EVENT')) {
        const { value } = await events.next();
        if (value.containerId !== containerId) continue;
        eventTypes.push(value.containerEventType);
        assert.equal(value.podSandboxStatus?.id, pod.podSandboxId);
      }
      assert.deepEqual(eventTypes, ['CONTAINER_CREATED_EVENT', 'CONTAINER_STARTED_EVENT', 'CONTAINER_STOPPED_EVENT']);
      await events.return?.();
    });
  });
}

/** Streams as a kubelet has them, with the collected output. */
function nearStreams() {
  const stdin = new PassThrough();
  const collect = () => {
    const stream = new PassThrough();
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    return { stream, text: () => text };
  };
  const [stdout, stderr] = [collect(), collect()];
  const streams = {
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    onResize: () => {},
    signal: new AbortController().signal,
  } satisfies ProcessStreams;
  return { streams, written: { stdout: stdout.text, stderr: stderr.text } };
}
