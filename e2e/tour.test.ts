/** Runs the tour of the README: its commands in a shell, with their outputs compared. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freshEnvironment, hasTool, temporaryHome } from './cluster.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** A command and its expected output. */
type Step = { readonly command: string; readonly prints: readonly string[] };

/** Parses the steps of a console block: `$` starts a step, and a here-document belongs to it. */
function stepsOf(text: string): readonly Step[] {
  const steps: { command: string; prints: string[] }[] = [];
  let end: string | undefined;
  for (const line of text.split('\n')) {
    const step = steps.at(-1);
    if (end !== undefined) {
      step!.command += `\n${line}`;
      if (line === end) end = undefined;
    } else if (line.startsWith('$ ')) {
      steps.push({ command: line.slice(2), prints: [] });
      end = /<<(\w+)/.exec(line)?.[1];
    } else step?.prints.push(line);
  }
  return steps.map(({ command, prints }) => ({ command, prints: linesOf(prints.join('\n')) }));
}

/** Returns normalized non-empty lines. Output of npm and of one-time setup is dropped. */
function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/g, '  '))
    .filter((line) => line !== '' && !/^> |^(?:Installing|Bundling) .*…$|^added \d+ packages/.test(line));
}

/** Values that differ in each run and have no meaning. */
const passing: readonly (readonly [RegExp, string])[] = [
  [/\b\d+ ms\b/g, 'N ms'],
  [/(?<=127\.0\.0\.1:)\d+/g, 'PORT'],
  [/\S*\/\.kube\/config/g, '~/.kube/config'],
  [/(?<=\s)\d+[smh](?=\s|$)/g, 'AGE'],
  [/(?<=revision web-)\w+/g, 'HASH'],
  [/^\d+:\d\d\.\d(?= )/, 'TIME'],
];

/**
 * Values that differ in each run but must be consistent within it: names of Pods, and columns with nodes and addresses.
 */
const lasting = /\bweb-[a-z0-9]{5}\b|(?<= {2})node-\d(?= {2})|\b10\.\d+\.\d+\.\d+\b/g;

/** Compares the output with the README; variable values must be consistent wherever they occur. */
function createComparison() {
  const actual = new Map<string, string>();
  return ({ command, prints }: Step, output: string): void => {
    const plain = (line: string) => passing.reduce((text, [what, by]) => text.replace(what, by), line);
    const found = linesOf(output).map(plain);
    const received = prints.map(plain);
    // Tables are sorted by names, which differ in each run; new values are assumed to be in the same position.
    for (const [index, line] of received.entries()) {
      const [here, there] = [line.match(lasting) ?? [], found[index]?.match(lasting) ?? []];
      for (const [place, name] of here.entries()) {
        const other = there[place];
        if (!actual.has(name) && other !== undefined && ![...actual.values()].includes(other)) actual.set(name, other);
      }
    }
    const expected = received.map((line) => line.replace(lasting, (name) => actual.get(name) ?? name));
    assert.deepEqual(found.toSorted(), expected.toSorted(), `$ ${command}\n${output}`);
  };
}

/**
 * Returns the environment of a user's shell, without the settings of the npm that runs the tests, which would cause
 * warnings.
 */
function shellEnvironment(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(freshEnvironment(home)).filter(([name]) => !name.toLowerCase().startsWith('npm_'));
  return { ...Object.fromEntries(kept), npm_config_update_notifier: 'false' };
}

/** Opens a shell that runs one command after the other. */
function openShell(home: string) {
  const shell = spawn('bash', ['--norc'], {
    cwd: root,
    env: shellEnvironment(home),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  let look = () => {};
  for (const name of ['stdout', 'stderr'] as const) {
    shell[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      look();
    });
  }
  const ended = once(shell, 'exit').then(() => assert.fail(`the shell has ended:\n${texts.stderr}`));
  ended.catch(() => {});
  shell.stdin.write('shopt -s expand_aliases\n');
  return {
    process: shell,
    /** Runs a command to completion and returns its output. */
    async run(command: string): Promise<string> {
      const from = texts.stdout.length;
      const mark = `end of ${from}: `;
      // From a file, so that a command that reads standard input does not read the commands after it.
      const file = join(home, 'step.sh');
      writeFileSync(file, `${command}\n`);
      const received = new Promise<void>((resolve) => {
        look = () => {
          if (/: \d+\n$/.test(texts.stdout) && texts.stdout.includes(mark, from)) resolve();
        };
      });
      shell.stdin.write(`source ${file} < /dev/null\necho "${mark}$?"\n`);
      await Promise.race([received, ended]);
      const [output = '', code = ''] = texts.stdout.slice(from).split(mark);
      assert.equal(code.trim(), '0', `$ ${command}\n${output}${texts.stderr}`);
      return output;
    },
  };
}

/** Starts a command that runs until it is stopped, and waits for its last expected line. */
async function begin(home: string, { command, prints }: Step) {
  const child = spawn('bash', ['-c', `exec ${command} 2>&1`], {
    cwd: root,
    env: shellEnvironment(home),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let received = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      received += text;
      if (received.includes(prints.at(-1)!)) resolve();
    });
    child.once('exit', () => reject(new Error(`it ended:\n${received}`)));
  });
  return { child, output: () => received };
}

/** Stops a program and its children like Ctrl-C. */
async function interrupt(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  process.kill(-child.pid!, 'SIGINT');
  await ended;
}

if (hasTool('kubectl', "the README's tour")) {
  test('the tour of the README prints the expected output', async (context) => {
    const [, tour = ''] = /^## Five-minute tour\n([\s\S]*?)^## /m.exec(readme) ?? [];
    const blocks = [...tour.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text]) => stepsOf(text!));
    const [[start] = [], ...rest] = blocks;
    assert.ok(start && rest.length > 0, 'there is a tour');
    const home = temporaryHome();
    context.after(() => rmSync(home, { recursive: true, force: true }));
    const compare = createComparison();

    const cluster = await begin(home, start);
    context.after(() => interrupt(cluster.child));
    compare(start, cluster.output());

    const shell = openShell(home);
    context.after(() => shell.process.kill());
    context.after(() => {
      for (const file of ['web.yaml', 'newer.yaml', 'plan.yaml']) rmSync(join(root, file), { force: true });
    });
    for (const step of rest.flat()) compare(step, await shell.run(step.command));
  });
}
