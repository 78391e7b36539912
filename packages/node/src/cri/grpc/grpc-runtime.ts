/** Runtime in another process, such as containerd or CRI-O. */
import type { DescMessage, DescMethod } from '@bufbuild/protobuf';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { createChannel } from '@kruise/client/grpc/channel';
import { parseEndpoints } from '@kruise/client/grpc/connection';
import type { Method } from '@kruise/client/grpc/method';
import { GrpcError, goErrorText } from '@kruise/client/grpc/status';
import type { Clock } from '@kruise/values/clock';
import { machineFiles } from '../machine/files.ts';
import { fileLogs } from '../machine/log-files.ts';
import { machineNetwork } from '../machine/network.ts';
import type { CallOptions, ImageService, NodeRuntime, RuntimeService } from '../runtime.ts';
import { ImageService as ImageCalls, RuntimeService as RuntimeCalls } from './generated/cri_pb.ts';
import { createStreamingClient } from './streams.ts';
import { createTranslator } from './translate.ts';

export type GrpcRuntimeOptions = {
  readonly clock: Clock;
  /** Endpoint such as `unix:///run/containerd/containerd.sock`. */
  readonly endpoint: string;
  /** Endpoint of the image service, if it differs. */
  readonly imageEndpoint?: string;
  /** Default timeout of a call. */
  readonly requestTimeoutMs?: number;
  /** Closes the connections when aborted. */
  readonly signal?: AbortSignal;
};

const defaultRequestTimeoutMs = 2 * 60_000;

/** An unreachable runtime is usually restarting, and soon back. */
const connectionOptions = { connectTimeoutMs: 5000, maxBackoffMs: 3000 };

/** Creates the runtime client; it connects on the first call. */
export function createGrpcRuntime(options: GrpcRuntimeOptions): NodeRuntime {
  const { clock, endpoint, imageEndpoint = endpoint, requestTimeoutMs = defaultRequestTimeoutMs, signal } = options;
  const translator = createTranslator();
  const runtimeChannel = createChannel({ clock, ...connectionOptions, ...parseEndpoints([endpoint], undefined) });
  const imageChannel =
    imageEndpoint === endpoint
      ? runtimeChannel
      : createChannel({ clock, ...connectionOptions, ...parseEndpoints([imageEndpoint], undefined) });
  signal?.addEventListener('abort', () => {
    runtimeChannel.close();
    imageChannel.close();
  });
  const streaming = createStreamingClient(clock);

  function methodOf({ input, output, parent, name }: DescMethod): Method<unknown, unknown> {
    return {
      path: `/${parent.typeName}/${name}`,
      encode: (request) => toBinary(input, translator.toMessage(input, request) as never),
      decode: (bytes) => translator.toPlain(output, fromBinary(output, bytes, { readUnknownFields: false })),
    };
  }

  const withSignal = ({ signal: own }: CallOptions = {}) => (own ? { signal: own } : {});
  const withTimeout = (timeoutMs: number | undefined) => (timeoutMs === undefined ? {} : { timeoutMs });

  /**
   * Returns a call of the interface. The conformance suite verifies that the generated description and the interface
   * describe the same message.
   */
  function call<Request, Response>(
    description: DescMethod & { readonly input: DescMessage; readonly output: DescMessage },
    timeout: (request: Request) => number | undefined = () => requestTimeoutMs,
  ): (request: Request, callOptions?: CallOptions) => Promise<Response> {
    const method = methodOf(description);
    const channel = description.parent === ImageCalls ? imageChannel : runtimeChannel;
    return async (request, callOptions) =>
      (await channel.unary(method, request, {
        ...withTimeout(timeout(request)),
        ...withSignal(callOptions),
      })) as Response;
  }

  /** Returns a call with an empty response. */
  function command<Request>(
    description: DescMethod & { readonly input: DescMessage; readonly output: DescMessage },
    timeout?: (request: Request) => number | undefined,
  ): (request: Request, callOptions?: CallOptions) => Promise<void> {
    const callMethod = call<Request, unknown>(description, timeout);
    return async (request, callOptions) => {
      await callMethod(request, callOptions);
    };
  }

  const { method: runtimeMethod } = RuntimeCalls;
  const { method: imageMethod } = ImageCalls;
  const urlOf = {
    exec: call<unknown, { readonly url: string }>(runtimeMethod.exec),
    attach: call<unknown, { readonly url: string }>(runtimeMethod.attach),
    portForward: call<unknown, { readonly url: string }>(runtimeMethod.portForward),
  };
  const containerStatus: RuntimeService['containerStatus'] = call(runtimeMethod.containerStatus);
  // Image pulls have no timeout, because images may be large.
  const pullImage: ImageService['pullImage'] = call(imageMethod.pullImage, () => undefined);
  const listPodSandbox: RuntimeService['listPodSandbox'] = call(runtimeMethod.listPodSandbox);
  const podSandboxStats: RuntimeService['podSandboxStats'] = call(runtimeMethod.podSandboxStats);
  const listStats: RuntimeService['listPodSandboxStats'] = call(runtimeMethod.listPodSandboxStats);

  /** containerd 1.6 has no statistics of any sandbox as soon as one is not ready: then each is asked for its own. */
  async function listPodSandboxStats(
    request: Parameters<RuntimeService['listPodSandboxStats']>[0],
    callOptions?: CallOptions,
  ): ReturnType<RuntimeService['listPodSandboxStats']> {
    try {
      return await listStats(request, callOptions);
    } catch (error) {
      if (!isSandboxFault(error)) throw error;
    }
    const { id, labelSelector } = request.filter ?? {};
    const filter = {
      state: 'SANDBOX_READY' as const,
      ...(id ? { id } : {}),
      ...(labelSelector ? { labelSelector } : {}),
    };
    const { items } = await listPodSandbox({ filter }, callOptions);
    const found = await Promise.all(
      items.map(async ({ id: podSandboxId }) => {
        try {
          return [(await podSandboxStats({ podSandboxId }, callOptions)).stats];
        } catch (error) {
          // The sandbox stops at this moment.
          if (isSandboxFault(error)) return [];
          throw error;
        }
      }),
    );
    return { stats: found.flat() };
  }

  const eventsMethod = methodOf(runtimeMethod.getContainerEvents);

  return {
    version: call(runtimeMethod.version),
    status: call(runtimeMethod.status),
    updateRuntimeConfig: command(runtimeMethod.updateRuntimeConfig),
    runtimeConfig: call(runtimeMethod.runtimeConfig),
    // Setting up the network of a sandbox may be slow.
    runPodSandbox: call(runtimeMethod.runPodSandbox, () => 2 * requestTimeoutMs),
    stopPodSandbox: command(runtimeMethod.stopPodSandbox),
    removePodSandbox: command(runtimeMethod.removePodSandbox),
    podSandboxStatus: call(runtimeMethod.podSandboxStatus),
    listPodSandbox,
    updatePodSandboxResources: command(runtimeMethod.updatePodSandboxResources),
    createContainer: call(runtimeMethod.createContainer),
    startContainer: command(runtimeMethod.startContainer),
    stopContainer: command(runtimeMethod.stopContainer, ({ timeout = 0 }) => requestTimeoutMs + timeout * 1000),
    removeContainer: command(runtimeMethod.removeContainer),
    listContainers: call(runtimeMethod.listContainers),
    containerStatus,
    updateContainerResources: command(runtimeMethod.updateContainerResources),
    reopenContainerLog: command(runtimeMethod.reopenContainerLog),
    checkpointContainer: command(runtimeMethod.checkpointContainer, ({ timeout = 0 }) =>
      timeout > 0 ? timeout * 1000 : requestTimeoutMs,
    ),
    execSync: call(runtimeMethod.execSync, ({ timeout = 0 }: { readonly timeout?: number }) =>
      timeout > 0 ? requestTimeoutMs + timeout * 1000 : undefined,
    ),
    async exec(request, callOptions) {
      const { url } = await urlOf.exec(request, callOptions);
      return { connect: async (streams) => ({ exitCode: await streaming.runCommand(url, request, streams) }) };
    },
    async attach(request, callOptions) {
      const { url } = await urlOf.attach(request, callOptions);
      return {
        async connect(streams) {
          try {
            await streaming.runCommand(url, request, streams);
          } catch (error) {
            // A detached client ends the session normally.
            if (!streams.signal.aborted) throw error;
          }
        },
      };
    },
    async portForward(request, callOptions) {
      const { url } = await urlOf.portForward(request, callOptions);
      return streaming.forwardPorts(url);
    },
    containerStats: call(runtimeMethod.containerStats),
    listContainerStats: call(runtimeMethod.listContainerStats),
    podSandboxStats,
    listPodSandboxStats,
    listMetricDescriptors: call(runtimeMethod.listMetricDescriptors),
    listPodSandboxMetrics: call(runtimeMethod.listPodSandboxMetrics),
    getContainerEvents: (request, callOptions) =>
      startEagerly(runtimeChannel.serverStream(eventsMethod, request, withSignal(callOptions))) as AsyncIterable<never>,

    listImages: call(imageMethod.listImages),
    imageStatus: call(imageMethod.imageStatus),
    async pullImage(request, callOptions) {
      const response = await pullImage(request, callOptions);
      if (response.imageRef !== '') return response;
      throw new GrpcError('UNKNOWN', `imageRef of image "${request.image.image}" is not set`, { wasSent: true });
    },
    removeImage: command(imageMethod.removeImage),
    imageFsInfo: call(imageMethod.imageFsInfo),

    logs: fileLogs(clock, { containerStatus }),
    files: machineFiles,
    network: machineNetwork(clock),
  };
}

/** Reports whether the statistics of a sandbox could not be read. */
function isSandboxFault(error: unknown): boolean {
  return error instanceof GrpcError && (error.code === 'UNKNOWN' || error.code === 'NOT_FOUND');
}

/** Throws unless a runtime with a supported API answers. */
export async function requireRuntime(runtime: RuntimeService & ImageService, endpoint: string): Promise<void> {
  for (const [service, callMethod] of [
    ['runtime', () => runtime.version({ version: '0.1.0' })],
    ['image', () => runtime.imageFsInfo({})],
  ] as const) {
    try {
      await callMethod();
    } catch (error) {
      const isOld = error instanceof GrpcError && error.code === 'UNIMPLEMENTED';
      const fault = isOld ? `CRI v1 ${service} API is not implemented for endpoint "${endpoint}": ` : '';
      const text = error instanceof GrpcError ? goErrorText(error) : String(error);
      throw new Error(`validate CRI v1 ${service} API for endpoint "${endpoint}": ${fault}${text}`, { cause: error });
    }
  }
}

/** Requests the first item eagerly, so that a stream starts when it is called and not when it is read. */
async function* readFrom(first: Promise<IteratorResult<unknown>>, iterator: AsyncIterator<unknown>): AsyncGenerator {
  try {
    for (let next = await first; !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

function startEagerly(items: AsyncIterable<unknown>): AsyncIterable<unknown> {
  const iterator = items[Symbol.asyncIterator]();
  const first = iterator.next();
  // The reader receives the error.
  first.catch(() => {});
  return readFrom(first, iterator);
}
