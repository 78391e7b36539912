/** Command-line tools of simulated containers. */
import type { Program } from '../program.ts';
import { shell } from '../shell/shell.ts';
import { archiveCommands } from './archive.ts';
import { controlCommands } from './control.ts';
import { editCommands } from './edit.ts';
import { fileCommands } from './files.ts';
import { networkCommands } from './network.ts';
import { systemCommands } from './system.ts';
import { textCommands } from './text.ts';
import { webCommands } from './web.ts';

export const commands: Readonly<Record<string, Program>> = {
  sh: shell,
  ash: shell,
  bash: shell,
  dash: shell,
  ...archiveCommands,
  ...controlCommands,
  ...editCommands,
  ...fileCommands,
  ...networkCommands,
  ...systemCommands,
  ...textCommands,
  ...webCommands,
};

/** Tools that BusyBox does not have. */
export const distributionOnly: ReadonlySet<string> = new Set(['bash', 'dash', 'curl', 'dig', 'getent']);
