/**
 * Checks that every flag of every command has an effect: code reads the flag, or it is rejected where it would do
 * nothing.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Command } from 'commander';
import { daemonFlags, fixedDaemonFlags } from './daemon-flags.ts';
import { cloudControllerManagerFlags, controllerManagerFlags, schedulerFlags } from './flags.ts';
import { kubeletFlags } from './kubelet-flags.ts';
import { fixedManagerFlags, managerFlags, workerFlags } from './manager-flags.ts';
import { networkFlags } from './network-flags.ts';

const here = new URL('.', import.meta.url).pathname;
const sources = globSync('**/*.ts', { cwd: here, exclude: ['**/*.test.ts'] }).map((file) =>
  readFileSync(`${here}${file}`, 'utf8'),
);
/** Sources without the declarations of flags: their types and the calls that add them. */
const readers = sources
  .map((text) => text.replace(/^\s*readonly .*$/gm, '').replace(/\.option\(\s*['"`].*$/gm, ''))
  .join('\n');

const components = {
  scheduler: schedulerFlags,
  'controller-manager': controllerManagerFlags,
  'cloud-controller-manager': cloudControllerManagerFlags,
  kubelet: kubeletFlags,
  network: networkFlags,
  manager: managerFlags,
  daemon: daemonFlags,
};
const fixed = [...fixedManagerFlags, ...fixedDaemonFlags];
const isFixed = (long: string) => fixed.some(({ flags }) => flags.split(' ')[0] === long);

for (const [name, add] of Object.entries(components)) {
  test(`every flag of kruise ${name} is read`, () => {
    const unread = add(new Command(name))
      .options.filter(({ long }) => !isFixed(long!))
      .map((option) => option.attributeName())
      .filter((attribute) => !isRead(attribute));
    assert.deepEqual(unread, []);
  });
}

test('every flag of the other commands is read', () => {
  const main = readFileSync(`${here}main.ts`, 'utf8');
  const names = [...main.matchAll(/\.option\('(?:-\w, )?--([\w-]+)/g)].map(([, long]) =>
    new Command().createOption(`--${long}`).attributeName(),
  );
  assert.ok(names.length > 40);
  assert.deepEqual(
    names.filter((attribute) => !isRead(attribute)),
    [],
  );
});

/**
 * Returns whether an attribute is read: as a member, destructured or in quotes. One template reads the worker flags.
 */
function isRead(attribute: string): boolean {
  if (workerFlags.some((each) => attribute === `${each}Workers`)) return /`\$\{name\}Workers`/.test(readers);
  return new RegExp(`(?:\\.|['"{,(]\\s*)${attribute}\\b`).test(readers);
}

test('a fixed flag accepts its own values and rejects others with an alternative', () => {
  for (const [name, add, all] of [
    ['manager', managerFlags, fixedManagerFlags],
    ['daemon', daemonFlags, fixedDaemonFlags],
  ] as const) {
    for (const { flags, accepted, instead } of all) {
      const long = flags.split(' ')[0]!;
      const parse = (value: string) =>
        add(new Command(name))
          .exitOverride()
          .configureOutput({ writeErr() {} })
          .parse([`${long}=${value}`], { from: 'user' });
      for (const value of accepted) parse(value);
      assert.throws(() => parse('else'), new RegExp(instead.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')), long);
    }
  }
});

test('a flag without its value means true', () => {
  const parse = (...args: string[]) =>
    managerFlags(new Command())
      .exitOverride()
      .configureOutput({ writeErr() {} })
      .parse(args, { from: 'user' });
  parse('--logtostderr');
  assert.throws(() => parse('--skip_headers'), /filter the JSON lines/);
});
