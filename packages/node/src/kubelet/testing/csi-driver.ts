/**
 * A CSI driver for tests: its volumes are directories of one directory. It serves the node service and its registration
 * on Unix sockets, as the drivers of a cluster do.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import {
  create,
  type DescMethod,
  type DescService,
  fromBinary,
  type JsonValue,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { Node, NodeServiceCapability_RPC_Type as Rpc } from '../csi/generated/csi_pb.ts';
import { Registration } from '../csi/generated/registration_pb.ts';

/** A call that the driver has received. */
export type DriverCall = { readonly method: string; readonly request: { readonly [field: string]: JsonValue } };

/** A running driver. */
export type TestDriver = {
  readonly calls: readonly DriverCall[];
  /** Directory of a volume's files. */
  readonly dataOf: (volumeId: string) => string;
  /** Makes a method fail with a message until it is called with undefined. */
  fail(method: string, message: string | undefined): void;
  close(): Promise<void>;
};

export type TestDriverOptions = {
  readonly name: string;
  /** Directory of the driver's own socket and its volumes. */
  readonly directory: string;
  /** Registry directory of the kubelet. */
  readonly registry: string;
  /** True if volumes are mounted, which needs root; else the target is an empty directory. */
  readonly mounts: boolean;
  readonly maxVolumes?: number;
  readonly topology?: { readonly [key: string]: string };
};

type Handler = (request: { readonly [field: string]: JsonValue }) => Promise<Record<string, unknown>>;

/** Starts a driver. */
export async function startCsiDriver(options: TestDriverOptions): Promise<TestDriver> {
  const { name, directory, registry, mounts, maxVolumes = 0, topology = {} } = options;
  const calls: DriverCall[] = [];
  const failures = new Map<string, string>();
  const socket = `${directory}/csi.sock`;
  const dataOf = (volumeId: string) => `${directory}/data/${volumeId}`;
  await mkdir(directory, { recursive: true });
  await mkdir(registry, { recursive: true });

  const textOf = (request: { readonly [field: string]: JsonValue }, field: string) => String(request[field] ?? '');

  async function mount(source: string, target: string): Promise<void> {
    await mkdir(source, { recursive: true });
    await mkdir(target, { recursive: true });
    if (mounts && !(await isMounted(target))) await promisify(execFile)('mount', ['--bind', source, target]);
  }

  async function unmount(target: string): Promise<void> {
    if (mounts && (await isMounted(target))) await promisify(execFile)('umount', [target]);
    await rm(target, { recursive: true, force: true });
  }

  const methods: { readonly [method: string]: Handler } = {
    NodeGetInfo: async () => ({
      nodeId: `id-of-${name}`,
      maxVolumesPerNode: BigInt(maxVolumes),
      accessibleTopology: { segments: { ...topology } },
    }),
    NodeGetCapabilities: async () => ({
      capabilities: [Rpc.STAGE_UNSTAGE_VOLUME, Rpc.GET_VOLUME_STATS, Rpc.EXPAND_VOLUME].map((type) => ({
        type: { case: 'rpc', value: { type } },
      })),
    }),
    async NodeStageVolume(request) {
      await mount(dataOf(textOf(request, 'volumeId')), textOf(request, 'stagingTargetPath'));
      return {};
    },
    async NodeUnstageVolume(request) {
      await unmount(textOf(request, 'stagingTargetPath'));
      return {};
    },
    async NodePublishVolume(request) {
      const staging = textOf(request, 'stagingTargetPath');
      await mount(staging === '' ? dataOf(textOf(request, 'volumeId')) : staging, textOf(request, 'targetPath'));
      return {};
    },
    async NodeUnpublishVolume(request) {
      await unmount(textOf(request, 'targetPath'));
      return {};
    },
    NodeGetVolumeStats: async () => ({
      usage: [
        { total: 1000n, used: 400n, available: 600n, unit: 1 },
        { total: 100n, used: 7n, available: 93n, unit: 2 },
      ],
    }),
    NodeExpandVolume: async (request) => ({
      capacityBytes: BigInt(String((request['capacityRange'] as { requiredBytes?: string }).requiredBytes ?? 0)),
    }),
    GetInfo: async () => ({ type: 'CSIPlugin', name, endpoint: socket, supportedVersions: ['1.0.0'] }),
    NotifyRegistrationStatus: async () => ({}),
  };

  async function answer(method: string, request: DriverCall['request']): Promise<Record<string, unknown>> {
    calls.push({ method, request });
    const failure = failures.get(method);
    if (failure !== undefined) throw new Error(failure);
    return await methods[method]!(request);
  }

  const servers = [
    await serve(Node, socket, answer),
    await serve(Registration, `${registry}/${name}-reg.sock`, answer),
  ];
  return {
    calls,
    dataOf,
    fail(method, message) {
      if (message === undefined) failures.delete(method);
      else failures.set(method, message);
    },
    async close() {
      for (const close of servers) await close();
    },
  };
}

async function isMounted(path: string): Promise<boolean> {
  return await promisify(execFile)('mountpoint', ['-q', path]).then(
    () => true,
    () => false,
  );
}

type Answer = (method: string, request: DriverCall['request']) => Promise<Record<string, unknown>>;

/** Serves the unary methods of a service on a Unix socket; returns a function that ends the server. */
async function serve(service: DescService, socket: string, answer: Answer): Promise<() => Promise<void>> {
  const server: Http2Server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  const methods = new Map(service.methods.map((each) => [`/${service.typeName}/${each.name}`, each]));
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    void respond(stream, methods.get(String(headers[':path'])), answer);
  });
  await rm(socket, { force: true });
  server.listen(socket);
  await once(server, 'listening');
  return async () => {
    for (const session of sessions) session.destroy();
    server.close();
    await once(server, 'close');
    await rm(socket, { force: true });
  };
}

const headerBytes = 5;

async function respond(stream: ServerHttp2Stream, method: DescMethod | undefined, answer: Answer): Promise<void> {
  const headers = { ':status': 200, 'content-type': 'application/grpc' };
  stream.on('error', () => {});
  try {
    if (!method) throw new Error('unknown method');
    const request = fromBinary(method.input, (await buffer(stream)).subarray(headerBytes));
    const plain = toJson(method.input, request) as DriverCall['request'];
    const bytes = toBinary(method.output, create(method.output, await answer(method.name, plain)));
    const header = Buffer.alloc(headerBytes);
    header.writeUInt32BE(bytes.length, 1);
    stream.respond(headers, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.concat([header, bytes]));
  } catch (error) {
    const text = encodeURIComponent((error as Error).message);
    stream.respond({ ...headers, 'grpc-status': '13', 'grpc-message': text }, { endStream: true });
  }
}
