/** Streaming requests over SPDY or WebSocket: exec, attach and port-forward. */
import type { Status } from '@kruise/api/meta/status';
import { acceptPortForward, portsOf } from '@kruise/client/streaming/port-forward';
import { acceptRemoteCommand, type RemoteCommand } from '@kruise/client/streaming/remote-command';
import { type Upgrade, UpgradeRejectedError } from '@kruise/client/streaming/upgrade';
import { descriptionOf } from '../runtime/runtime-error.ts';
import { newestOf } from '../runtime/runtime-pod.ts';
import { KubeletError, type KubeletView, targetOf } from './view.ts';

/** A streaming request. */
export type CommandRequest = {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly upgrade: Upgrade;
};

/** Runs a command in a container. */
export async function exec(view: KubeletView, { path, query, upgrade }: CommandRequest): Promise<void> {
  const { id } = runningContainer(view, path);
  const streams = streamsOf(query);
  const cmd = query.getAll('command');
  const session = await view.runtime.exec({ containerId: id, cmd, ...streams });
  const command = await acceptCommand(view, upgrade, streams);
  if (!command) return;
  await session.connect(command).then(
    ({ exitCode }) => command.end(exitCode === 0 ? succeeded : exitStatus(exitCode)),
    (error: unknown) => command.end(failedStatus(`error executing command in container: ${descriptionOf(error)}`)),
  );
}

/** Attaches to the main process of a container. */
export async function attach(view: KubeletView, { path, query, upgrade }: CommandRequest): Promise<void> {
  const { id } = runningContainer(view, path);
  const streams = streamsOf(query);
  const session = await view.runtime.attach({ containerId: id, ...streams });
  const command = await acceptCommand(view, upgrade, streams);
  if (!command) return;
  await session.connect(command).then(
    () => command.end(succeeded),
    (error: unknown) => command.end(failedStatus(`error attaching to container: ${descriptionOf(error)}`)),
  );
}

/** Forwards ports of a Pod. */
export async function portForward(view: KubeletView, { path, query, upgrade }: CommandRequest): Promise<void> {
  const { worker } = targetOf(view, path, { hasContainer: false });
  const sandbox = worker.runtimePod().sandboxes.find(({ isReady }) => isReady);
  if (!sandbox) throw new KubeletError(500, `pod not found (${JSON.stringify(`${path[1]}_${path[0]}`)})`);
  const ports = portsOf(query.getAll('port'));
  const session = await view.runtime.portForward({ podSandboxId: sandbox.id, port: ports });
  try {
    const { signal } = await acceptPortForward(upgrade, view.clock, {
      ports,
      connect: ({ port, data, fail }) => {
        session.connect(port, data).catch((error: unknown) => {
          fail(
            `an error occurred forwarding ${port}: error forwarding port ${port} to pod ${worker.uid}, uid : ${descriptionOf(error)}`,
          );
        });
      },
    });
    signal.addEventListener('abort', () => session.close(), { once: true });
  } catch (error) {
    session.close();
    if (!(error instanceof UpgradeRejectedError)) throw error;
  }
}

/** Runs a command to completion and returns its output. */
export async function runOnce(
  view: KubeletView,
  path: readonly string[],
  commands: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { id } = runningContainer(view, path);
  const cmd = commands.flatMap((each) => each.split(' '));
  const { stdout, stderr } = await view.runtime.execSync({ containerId: id, cmd }, { signal });
  return Buffer.concat([stdout, stderr]).toString();
}

function runningContainer(view: KubeletView, path: readonly string[]) {
  const { worker, container } = targetOf(view, path, { hasContainer: true });
  const found = newestOf(worker.runtimePod(), container);
  if (found?.state !== 'running') {
    throw new KubeletError(500, `container not found (${JSON.stringify(container)})`);
  }
  return found;
}

type Streams = Parameters<typeof acceptRemoteCommand>[2];

function streamsOf(query: URLSearchParams): Streams {
  const isSet = (name: string) => query.get(name) === '1' || query.get(name) === 'true';
  const tty = isSet('tty');
  const streams = { stdin: isSet('input'), stdout: isSet('output'), stderr: isSet('error') && !tty, tty };
  if (!streams.stdin && !streams.stdout && !streams.stderr) {
    throw new KubeletError(400, 'you must specify at least 1 of stdin, stdout, stderr');
  }
  return streams;
}

/** Accepts the upgrade; returns undefined if the upgrade was refused, which the client has already been sent. */
async function acceptCommand(
  view: KubeletView,
  upgrade: Upgrade,
  streams: Streams,
): Promise<RemoteCommand | undefined> {
  try {
    return await acceptRemoteCommand(upgrade, view.clock, streams);
  } catch (error) {
    if (error instanceof UpgradeRejectedError) return undefined;
    throw error;
  }
}

const succeeded: Status = { metadata: {}, status: 'Success' };

function exitStatus(exitCode: number): Status {
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

function failedStatus(message: string): Status {
  return {
    metadata: {},
    status: 'Failure',
    message,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  };
}
