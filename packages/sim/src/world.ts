/**
 * A whole cluster on virtual time: the real API server on a disk that can lose what was not synced, and the real
 * components, each a process of its own that reaches the server over a network and can crash at any moment. Everything
 * that happens follows from the seed.
 */
import { inProcessTransport } from '@kruise/apiserver/in-process';
import { type ApiServer, startApiServer } from '@kruise/apiserver/server';
import type { User } from '@kruise/apiserver/user';
import { type Client, createClient } from '@kruise/client/client';
import type { ApiAnswer, ApiRequest, Transport } from '@kruise/client/transport';
import type { Webhook } from '@kruise/client/webhook';
import { kruiseConverterOf } from '@kruise/cluster/kruise-kinds';
import type { StatusError } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { type Random, randomInteger, seededRandom } from '@kruise/values/random';
import { ticking, type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import { createDisk, type Disk, type KeptVersion } from './disk.ts';
import { createBudget } from './endless.ts';
import { driven, foundation, worldStart } from './foundation.ts';
import { beginLife, type Life } from './life.ts';
import { fairWeather, link, type Server, type Weather, whileAlive, withoutEvents } from './network.ts';

/** What a process is started with. */
export type ProcessContext = {
  readonly life: Life;
  readonly random: Random;
  /** The way to the API server, as someone. */
  transportOf(user: User): Transport;
  /** Where the server finds webhooks of this process. */
  readonly webhooks: { set(path: string, webhook: Webhook): void };
  /** Something went wrong within it: told, not hidden. */
  readonly complain: (message: string) => void;
};

/** A program that can be started any number of times. */
export type Program = {
  readonly name: string;
  /** Tells the cluster of it before anything runs, as whoever installs it does. */
  install?(client: Client): Promise<void>;
  /** Works until it crashes; resolves or throws if it ends by itself. */
  run(context: ProcessContext): Promise<void>;
};

export type World = {
  readonly clock: VirtualClock;
  /** The server's process, while there is one. */
  server(): ApiServer | undefined;
  /** Starts the server and every program. */
  start(): Promise<void>;
  /** Ends a process without warning and starts it again after a while; `apiserver` is one of them. */
  crash(name: string, downMs: number): void;
  /** Changes how a process reaches the server. */
  setWeather(name: string, weather: Partial<Weather>): void;
  /** Puts the clock of a process right or wrong. */
  setClock(name: string, aheadMs: number): void;
  /** Reaches the server without a network: for those who only look. */
  observer(user: User): Transport | undefined;
  /** Tells of every request as it reaches the server; what it returns is told of the answer. */
  onRequest(witness: Witness): void;
  /** Refuses requests at the API server until the returned function is called. */
  refuse(refuser: Refuser): () => void;
  /** Serves a webhook that belongs to no process; undefined removes it. */
  setWebhook(path: string, webhook: Webhook | undefined): void;
  /** Tells at which revision a server finds the store when it starts. */
  onServerStart(listener: (revision: number) => void): void;
  /** Tells of every write once it is durable. */
  onWrite(listener: (version: KeptVersion) => void): void;
  names(): readonly string[];
  /** Ends everything, and lets go of what is left. */
  end(): void;
};

/** A request with its user and its process. */
export type Heard = { readonly user: User; readonly request: ApiRequest; readonly process: string };
/** Returns the error with which the API server refuses a request. */
export type Refuser = (heard: Heard) => StatusError | undefined;
export type Witness = (heard: Heard) => ((answer: ApiAnswer) => void) | undefined;

const installer: User = { username: 'installer', groups: ['system:masters', 'system:authenticated'] };

/** How long a process that ended by itself stays down, as a supervisor would have it. */
const restartMs = 1000;

export type WorldOptions = {
  readonly seed: string;
  /** What runs, on the world's time. */
  readonly programs: (clock: Clock) => readonly Program[];
  readonly record: (line: string) => void;
  /** Whether a program that changes an object it was given fails, which costs time; it does unless it is told not to. */
  readonly freezesObjects?: boolean;
  /** Whether Events reach the server, which they do unless it is told otherwise. */
  readonly keepsEvents?: boolean;
  /** The disk of the API server, where it is not a sound one. */
  readonly createDisk?: typeof createDisk;
};

/** Makes a world. Nothing runs until it is started, and time passes only when `clock` is moved. */
export function createWorld({ seed, record, ...options }: WorldOptions): World {
  const budget = createBudget(ticking(), () => clock.now());
  const clock = virtualClock(worldStart, budget.settle);
  const programs = options.programs(clock);
  const randomOf = (purpose: string) => seededRandom(`${seed} ${purpose}`);
  const diskRandom = randomOf('disk');
  const writeListeners: ((version: KeptVersion) => void)[] = [];
  const startListeners: ((revision: number) => void)[] = [];
  const witnesses: Witness[] = [];
  const refusers = new Set<Refuser>();
  const diskOn = (kept: readonly KeptVersion[]) =>
    (options.createDisk ?? createDisk)({
      kept,
      syncMs: () => randomInteger(diskRandom, 3),
      onSafe: (version) => {
        for (const listener of writeListeners) listener(version);
      },
    });
  let disk: Disk | undefined;
  const weathers = new Map<string, Weather>();
  const clocks = new Map<string, number>();
  const lives = new Map<string, Life>();
  const begun: Life[] = [];
  const servers: ApiServer[] = [];
  const starts = new Map<string, number>();
  const downUntil = new Map<string, number>();
  let current: { readonly life: Life; readonly server: ApiServer } | undefined;
  // Webhooks belong to processes, which outlive the server and do not: any of those that have one answers.
  const webhooks = new Map<string, Webhook>();
  const servedBy = new Map<string, Map<Life, Webhook>>();

  const beginOf = (name: string): { readonly life: Life; readonly random: Random } => {
    const life = beginLife(clock, () => clocks.get(name) ?? 0);
    const count = (starts.get(name) ?? 0) + 1;
    starts.set(name, count);
    lives.set(name, life);
    begun.push(life);
    return { life, random: randomOf(`${name} ${count}`) };
  };

  async function startServer(): Promise<void> {
    const { life, random } = beginOf('apiserver');
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
      onError: (error) => complain('apiserver', error),
    });
    servers.push(server);
    if (life.isOver()) return;
    current = { life, server };
    life.onEnd(() => {
      if (current?.life === life) current = undefined;
    });
  }

  function complain(name: string, error: unknown): void {
    record(`${name} complains: ${error instanceof Error ? error.message : String(error)}`);
  }

  /** The server's own door, with those who watch it. */
  function doorOf({ core }: ApiServer, user: User, name: string): Transport {
    const inner = inProcessTransport(core, user, name);
    return {
      async request(request) {
        const heard: Heard = { user, request, process: name };
        const told = witnesses.map((witness) => witness(heard));
        for (const refuser of refusers) {
          const refusal = refuser(heard);
          if (refusal) throw refusal;
        }
        const answer = await inner.request(request);
        for (const tell of told) tell?.(answer);
        return answer;
      },
      watch: (request) => inner.watch(request),
    };
  }

  function startProgram({ name, run }: Program): void {
    const { life, random } = beginOf(name);
    const transportOf = (user: User): Transport => {
      let known: (Server & { readonly of: ApiServer }) | undefined;
      const server = (): Server | undefined => {
        if (!current) return undefined;
        const { life: serverLife, server: of } = current;
        if (known?.of !== of) known = { of, life: serverLife, transport: doorOf(of, user, name) };
        return known;
      };
      const way = link({ life, random, weather: () => weathers.get(name) ?? fairWeather, server });
      return options.keepsEvents === false ? withoutEvents(way) : way;
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
      complain: (message) => record(`${name} complains: ${message}`),
    };
    run(context)
      .catch((error) => complain(name, error))
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
      // It is laid once for all worlds: no time may pass meanwhile, or the first would differ from what it is later.
      disk = diskOn(await foundation());
      await driven(clock, startServer());
      const client = createClient(doorOf(current!.server, installer, installer.username));
      for (const { install } of programs) if (install) await driven(clock, install(client));
      for (const program of programs) startProgram(program);
    },
    crash(name, downMs) {
      lives.get(name)?.end();
      const upAt = Math.max(clock.now() + downMs, downUntil.get(name) ?? 0);
      downUntil.set(name, upAt);
      const program = programs.find((each) => each.name === name);
      clock.setTimer(upAt - clock.now(), () => {
        // Whoever crashed again meanwhile is started by the later crash, and one that is up is not started twice.
        if (clock.now() < downUntil.get(name)! || !lives.get(name)?.isOver()) return;
        if (program) startProgram(program);
        else void startServer();
      });
    },
    setWeather(name, weather) {
      weathers.set(name, { ...(weathers.get(name) ?? fairWeather), ...weather });
    },
    setClock(name, aheadMs) {
      clocks.set(name, aheadMs);
    },
    observer(user) {
      if (!current) return undefined;
      const { life, server } = current;
      const door = doorOf(server, user, 'observer');
      return { ...door, request: (request) => whileAlive(life, door.request(request)) };
    },
    onRequest: (witness) => void witnesses.push(witness),
    refuse(refuser) {
      refusers.add(refuser);
      return () => void refusers.delete(refuser);
    },
    setWebhook(path, webhook) {
      if (webhook) webhooks.set(path, webhook);
      else webhooks.delete(path);
    },
    onServerStart: (listener) => void startListeners.push(listener),
    onWrite: (listener) => void writeListeners.push(listener),
    names: () => ['apiserver', ...programs.map(({ name }) => name)],
    end() {
      for (const life of begun) life.release();
      for (const server of servers) void server.close();
    },
  };
}
