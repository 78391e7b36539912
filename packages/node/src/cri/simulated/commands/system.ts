/** System commands: users, hosts, time. */
import { signalOf } from '../process.ts';
import { type Program, writeText } from '../program.ts';
import { parseArguments, ToolError, tool } from './arguments.ts';
import { killCommand } from './control.ts';

export const systemCommands: Readonly<Record<string, Program>> = {
  kill: killCommand,
  hostname: tool(async ({ argv, container, stdout }) => {
    const { flags } = parseArguments(argv.slice(1));
    await writeText(stdout, `${flags.has('i') || flags.has('I') ? container.network.address : container.hostname}\n`);
    return 0;
  }),
  uname: tool(async ({ argv, container, stdout }) => {
    const { flags } = parseArguments(argv.slice(1));
    const fields: readonly [string, string][] = [
      ['s', 'Linux'],
      ['n', container.hostname],
      ['r', '6.12.0-simulated'],
      ['v', '#1 SMP'],
      ['m', 'x86_64'],
      ['o', 'GNU/Linux'],
    ];
    const wanted = fields.filter(
      ([letter]) => flags.has('a') || flags.has(letter) || (flags.size === 0 && letter === 's'),
    );
    await writeText(stdout, `${wanted.map(([, text]) => text).join(' ')}\n`);
    return 0;
  }),
  sysctl: tool(async ({ argv, container, stdout }) => {
    const { flags, operands } = parseArguments(argv.slice(1));
    for (const name of operands) {
      const value = container.sysctls[name];
      if (value === undefined) throw new ToolError(`error: '${name}' is an unknown key`);
      await writeText(stdout, flags.has('n') ? `${value}\n` : `${name} = ${value}\n`);
    }
    return 0;
  }),
  whoami: tool(async ({ container, stdout }) => {
    if (container.user.uid !== 0) throw new ToolError(`unknown uid ${container.user.uid}`);
    await writeText(stdout, 'root\n');
    return 0;
  }),
  id: tool(async ({ argv, container, stdout }) => {
    const { flags } = parseArguments(argv.slice(1));
    const { uid, gid } = container.user;
    const named = (id: number) => (id === 0 ? '0(root)' : String(id));
    const text = flags.has('u')
      ? `${uid}`
      : flags.has('g') || flags.has('G')
        ? `${gid}`
        : `uid=${named(uid)} gid=${named(gid)}`;
    await writeText(stdout, `${text}\n`);
    return 0;
  }),
  date: tool(async ({ argv, container, stdout }) => {
    const words = argv.slice(1).filter((word) => !/^-[uI]*$/.test(word));
    await writeText(stdout, `${formatDate(new Date(container.clock.now()), words[0])}\n`);
    return 0;
  }),
  uptime: tool(async ({ container, stdout }) => {
    const seconds = Math.floor((container.clock.now() - container.startedAt) / 1000);
    await writeText(stdout, ` up ${Math.floor(seconds / 60)} min,  load average: 0.00, 0.00, 0.00\n`);
    return 0;
  }),
  nproc: tool(async ({ stdout }) => {
    await writeText(stdout, '4\n');
    return 0;
  }),
  ps: tool(async ({ container, stdout }) => {
    await writeText(stdout, 'PID   USER     TIME  COMMAND\n');
    for (const { pid, command } of container.processes()) {
      await writeText(stdout, `${String(pid).padStart(5)} root      0:00 ${command}\n`);
    }
    return 0;
  }),
  pgrep: tool(async ({ argv, container, stdout, process }) => {
    const found = matching(argv, container, process.pid);
    for (const { pid } of found) await writeText(stdout, `${pid}\n`);
    return found.length > 0 ? 0 : 1;
  }),
  pidof: tool(async ({ argv, container, stdout, process }) => {
    const found = matching(argv, container, process.pid);
    if (found.length > 0) await writeText(stdout, `${found.map(({ pid }) => pid).join(' ')}\n`);
    return found.length > 0 ? 0 : 1;
  }),
  pkill: tool(({ argv, container, process }) => signalAll(argv, container, process.pid)),
  killall: tool(({ argv, container, process }) => signalAll(argv, container, process.pid)),
  which: tool(async ({ argv, container, environment, directory, stdout }) => {
    let exitCode = 0;
    for (const name of argv.slice(1)) {
      if (container.findProgram(name, environment, directory)) {
        await writeText(stdout, name.includes('/') ? `${name}\n` : `/bin/${name}\n`);
      } else {
        exitCode = 1;
      }
    }
    return exitCode;
  }),
  stty: () => 0,
  clear: () => 0,
};

type World = Parameters<Program>[0]['container'];

function matching(argv: readonly string[], container: World, self: number): readonly { readonly pid: number }[] {
  const { operands } = parseArguments(argv.slice(1).filter((word) => !/^-(\d+|[A-Z]+)$/.test(word)));
  const [pattern = ''] = operands;
  return container.processes().filter(({ pid, command }) => pid !== self && command.includes(pattern));
}

async function signalAll(argv: readonly string[], container: World, self: number): Promise<number> {
  const option = argv.find((word) => /^-(\d+|[A-Z]+\d*)$/.test(word))?.slice(1) ?? 'TERM';
  const found = matching(argv, container, self);
  // Signal 0 only checks whether the process exists.
  const signal = option === '0' ? undefined : signalOf(option);
  for (const { pid } of found) if (signal) container.signal(pid, signal);
  return found.length > 0 ? 0 : 1;
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

function formatDate(date: Date, format = '+%a %b %e %H:%M:%S UTC %Y'): string {
  if (!format.startsWith('+')) throw new ToolError(`invalid date '${format}'`);
  const two = (number: number) => String(number).padStart(2, '0');
  const fields: Readonly<Record<string, () => string>> = {
    Y: () => String(date.getUTCFullYear()),
    m: () => two(date.getUTCMonth() + 1),
    d: () => two(date.getUTCDate()),
    e: () => String(date.getUTCDate()).padStart(2),
    H: () => two(date.getUTCHours()),
    M: () => two(date.getUTCMinutes()),
    S: () => two(date.getUTCSeconds()),
    s: () => String(Math.floor(date.getTime() / 1000)),
    N: () =>
      String(date.getTime() % 1000)
        .padStart(3, '0')
        .padEnd(9, '0'),
    F: () => `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`,
    T: () => `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`,
    a: () => (days[date.getUTCDay()] as string).slice(0, 3),
    A: () => days[date.getUTCDay()] as string,
    b: () => (months[date.getUTCMonth()] as string).slice(0, 3),
    B: () => months[date.getUTCMonth()] as string,
    Z: () => 'UTC',
    z: () => '+0000',
    '%': () => '%',
    n: () => '\n',
  };
  return format.slice(1).replace(/%([A-Za-z%])/g, (all, letter: string) => fields[letter]?.() ?? all);
}
