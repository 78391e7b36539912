/**
 * A whole cluster on virtual time: the real API server on a disk that loses unsynced writes, and the real components,
 * each as a separate process that reaches the server over a simulated network and can crash at any moment. Everything
 * that happens follows from the seed.
 */
import { inProcessTransport } from '@kruise/apiserver/in-process';
import { type ApiServer, startApiServer } from '@kruise/apiserver/server';
import type { User } from '@kruise/apiserver/user';
import { type Client, createClient } from '@kruise/client/client';
import type { ApiRequest, ApiResponse, Transport } from '@kruise/client/transport';
import type { Webhook } from '@kruise/client/webhook';
import { kruiseConverterOf } from '@kruise/cluster/kruise-kinds';
import type { StatusError } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { type Random, randomInteger, seededRandom } from '@kruise/values/random';
import { createTickSettle, type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import { advanceUntilSettled, bootstrapSnapshot, simulationStart } from './bootstrap-snapshot.ts';
import { createDisk, type Disk, type StoredVersion } from './disk.ts';
import { link, type NetworkConditions, noFaults, type Server, whileAlive, withoutEvents } from './network.ts';
import { type Lifetime, startLifetime } from './process-lifetime.ts';
import { createBudget } from './step-budget.ts';

/** Dependencies of a process. */
export type ProcessContext = {
  readonly life: Lifetime;
  readonly random: Random;
  /** Returns the transport to the API server as a user. */
  transportOf(user: User): Transport;
  /** Registers the webhooks that this process serves. */
  readonly webhooks: { set(path: string, webhook: Webhook): void };
  /** Reports an internal error of the process. */
  readonly reportError: (message: string) => void;
};

/** A program that can be started any number of times. */
export type Program = {
  readonly name: string;
  /** Installs the program's objects before anything runs, like an installer. */
  install?(client: Client): Promise<void>;
  /** Runs until the process crashes; resolves or rejects if the program ends by itself. */
  run(context: ProcessContext): Promise<void>;
};

export type World = {
  readonly clock: VirtualClock;
  /** Returns the API server while it is up. */
  server(): ApiServer | undefined;
  /** Starts the API server and every program. */
  start(): Promise<void>;
  /** Crashes a process and restarts it after a while; `apiserver` is one of the processes. */
  crash(name: string, downMs: number): void;
  /** Changes the network conditions of a process. */
  setNetworkConditions(name: string, conditions: Partial<NetworkConditions>): void;
  /** Sets the clock error of a process. */
  setClock(name: string, aheadMs: number): void;
  /** Returns a transport without a simulated network, for observers. */
  observer(user: User): Transport | undefined;
  /** Registers an observer of every request that reaches the API server; its result is called with the response. */
  onRequest(observer: RequestObserver): void;
  /** Rejects requests at the API server until the returned function is called. */
  rejectRequests(rejecter: RequestRejecter): () => void;
  /** Serves a webhook that belongs to no process; undefined removes it. */
  setWebhook(path: string, webhook: Webhook | undefined): void;
  /** Registers a listener for the revision of the store at each start of the API server. */
  onServerStart(listener: (revision: number) => void): void;
  /** Registers a listener for every durable write. */
  onWrite(listener: (version: StoredVersion) => void): void;
  names(): readonly string[];
  /** Ends all processes and releases their resources. */
  end(): void;
};

/** A request with its user and its process. */
export type ObservedRequest = { readonly user: User; readonly request: ApiRequest; readonly process: string };
/** Returns the error with which the API server rejects a request. */
export type RequestRejecter = (observed: ObservedRequest) => StatusError | undefined;
export type RequestObserver = (observed: ObservedRequest) => ((answer: ApiResponse) => void) | undefined;

const installer: User = { username: 'installer', groups: ['system:masters', 'system:authenticated'] };

/** Delay before a process that ended by itself is restarted, like a supervisor's. */
const restartMs = 1000;

export type WorldOptions = {
  readonly seed: string;
  /** Returns the programs to run, on virtual time. */
  readonly programs: (clock: Clock) => readonly Program[];
  readonly record: (line: string) => void;
  /** Makes programs fail that mutate an object of a cache, which costs time; on by default. */
  readonly freezesObjects?: boolean;
  /** Delivers Events to the API server; on by default. */
  readonly keepsEvents?: boolean;
  /** Creates the disk of the API server; mutants use a faulty one. */
  readonly createDisk?: typeof createDisk;
};

/** Creates a simulated cluster. Nothing runs until it is started, and time advances only with `clock`. */
export function createWorld({ seed, record, ...options }: WorldOptions): World {
  const budget = createBudget(createTickSettle(), () => clock.now());
  const clock = virtualClock(simulationStart, budget.settle);
  const processClock = budget.limitReads(clock);
  const programs = options.programs(processClock);
  const randomOf = (purpose: string) => seededRandom(`${seed} ${purpose}`);
  const diskRandom = randomOf('disk');
  const writeListeners: ((version: StoredVersion) => void)[] = [];
  const startListeners: ((revision: number) => void)[] = [];
  const requestObservers: RequestObserver[] = [];
  const rejecters = new Set<RequestRejecter>();
  const diskOn = (initialVersions: readonly StoredVersion[]) =>
    (options.createDisk ?? createDisk)({
      initialVersions,
      syncMs: () => randomInteger(diskRandom, 3),
      onSynced: (version) => {
        for (const listener of writeListeners) listener(version);
      },
    });
  let disk: Disk | undefined;
  const networkConditions = new Map<string, NetworkConditions>();
  const clocks = new Map<string, number>();
  const lives = new Map<string, Lifetime>();
  const lifetimes: Lifetime[] = [];
  const servers: ApiServer[] = [];
  const starts = new Map<string, number>();
  const downUntil = new Map<string, number>();
  let current: { readonly life: Lifetime; readonly server: ApiServer } | undefined;
  // Webhooks belong to processes, which start and end independently of the API server: any live process that serves a
  // path answers.
  const webhooks = new Map<string, Webhook>();
  const servedBy = new Map<string, Map<Lifetime, Webhook>>();

  const startProcess = (name: string): { readonly life: Lifetime; readonly random: Random } => {
    const life = startLifetime(processClock, () => clocks.get(name) ?? 0);
    const count = (starts.get(name) ?? 0) + 1;
    starts.set(name, count);
    lives.set(name, life);
    lifetimes.push(life);
    return { life, random: randomOf(`${name} ${count}`) };
  };

  async function startServer(): Promise<void> {
    const { life, random } = startProcess('apiserver');
    const store = budget.limit(disk!.open(life));
    const revision = await store.currentRevision();
    for (const listener of startListeners) listener(revision);
    const server = await startApiServer({
      store,
      clock: life.clock,
      random,
      converterOf: kruiseConverterOf,
      inProcessWebhooks: webhooks,
      freezeObjects: options.freezesObjects ?? true,
      onError: (error) => reportError('apiserver', error),
    });
    servers.push(server);
    if (life.isOver()) return;
    current = { life, server };
    life.onEnd(() => {
      if (current?.life === life) current = undefined;
    });
  }

  function reportError(name: string, error: unknown): void {
    record(`${name} reported an error: ${error instanceof Error ? error.message : String(error)}`);
  }

  /** Returns the transport inside of the API server, with its observers. */
  function serverTransport({ core }: ApiServer, user: User, name: string): Transport {
    const inner = inProcessTransport(core, user, name);
    return {
      async request(request) {
        const observed: ObservedRequest = { user, request, process: name };
        const responseObservers = requestObservers.map((observer) => observer(observed));
        for (const rejecter of rejecters) {
          const refusal = rejecter(observed);
          if (refusal) throw refusal;
        }
        const answer = await inner.request(request);
        for (const observeResponse of responseObservers) observeResponse?.(answer);
        return answer;
      },
      watch: (request) => inner.watch(request),
    };
  }

  function startProgram({ name, run }: Program): void {
    const { life, random } = startProcess(name);
    const transportOf = (user: User): Transport => {
      let known: (Server & { readonly of: ApiServer }) | undefined;
      const server = (): Server | undefined => {
        if (!current) return undefined;
        const { life: serverLife, server: of } = current;
        if (known?.of !== of) known = { of, life: serverLife, transport: serverTransport(of, user, name) };
        return known;
      };
      const transport = link({ life, random, conditions: () => networkConditions.get(name) ?? noFaults, server });
      return options.keepsEvents === false ? withoutEvents(transport) : transport;
    };
    life.onEnd(() => {
      for (const [path, served] of servedBy) {
        served.delete(life);
        const [other] = served.values();
        if (other) webhooks.set(path, other);
        else webhooks.delete(path);
      }
    });
    const context: ProcessContext = {
      life,
      random,
      transportOf,
      webhooks: {
        set(path, webhook) {
          const served = servedBy.get(path) ?? new Map();
          servedBy.set(path, served.set(life, webhook));
          webhooks.set(path, webhook);
        },
      },
      reportError: (message) => record(`${name} reported an error: ${message}`),
    };
    run(context)
      .catch((error) => reportError(name, error))
      .then(() => {
        if (life.isOver()) return;
        record(`${name} has ended`);
        life.end();
        clock.setTimer(restartMs, () => {
          if (lives.get(name) === life && clock.now() >= (downUntil.get(name) ?? 0)) startProgram({ name, run });
        });
      });
  }

  return {
    clock,
    server: () => current?.server,
    async start() {
      // The snapshot is created once for all simulations: time must not advance meanwhile, or the first simulation
      // would differ from the later ones.
      disk = diskOn(await bootstrapSnapshot());
      await advanceUntilSettled(clock, startServer());
      const client = createClient(serverTransport(current!.server, installer, installer.username));
      for (const { install } of programs) if (install) await advanceUntilSettled(clock, install(client));
      for (const program of programs) startProgram(program);
    },
    crash(name, downMs) {
      lives.get(name)?.end();
      const upAt = Math.max(clock.now() + downMs, downUntil.get(name) ?? 0);
      downUntil.set(name, upAt);
      const program = programs.find((each) => each.name === name);
      clock.setTimer(upAt - clock.now(), () => {
        // After another crash in the meantime, the later crash restarts the process; a running process is not started
        // twice.
        if (clock.now() < downUntil.get(name)! || !lives.get(name)?.isOver()) return;
        if (program) startProgram(program);
        else void startServer();
      });
    },
    setNetworkConditions(name, conditions) {
      networkConditions.set(name, { ...(networkConditions.get(name) ?? noFaults), ...conditions });
    },
    setClock(name, aheadMs) {
      clocks.set(name, aheadMs);
    },
    observer(user) {
      if (!current) return undefined;
      const { life, server } = current;
      const door = serverTransport(server, user, 'observer');
      return { ...door, request: (request) => whileAlive(life, door.request(request)) };
    },
    onRequest: (observer) => void requestObservers.push(observer),
    rejectRequests(rejecter) {
      rejecters.add(rejecter);
      return () => void rejecters.delete(rejecter);
    },
    setWebhook(path, webhook) {
      if (webhook) webhooks.set(path, webhook);
      else webhooks.delete(path);
    },
    onServerStart: (listener) => void startListeners.push(listener),
    onWrite: (listener) => void writeListeners.push(listener),
    names: () => ['apiserver', ...programs.map(({ name }) => name)],
    end() {
      for (const life of lifetimes) life.release();
      for (const server of servers) void server.close();
    },
  };
}
