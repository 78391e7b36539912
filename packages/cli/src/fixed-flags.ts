/** Flags of Go libraries that manifests pass. Each has fixed behaviour here, and any other value is rejected. */
import { type Command, InvalidArgumentError, Option } from 'commander';

/** A flag, the values that match the actual behaviour, and the alternative to suggest for any other value. */
export type FixedFlag = { readonly flags: string; readonly accepted: readonly string[]; readonly instead: string };

const yes = ['true', 't', '1'];
const no = ['false', 'f', '0'];
const inStderr = 'logs are JSON lines on standard error: redirect it, or let the container runtime rotate the logs';

/** Flags of klog and component-base. */
export const loggingFlags: readonly FixedFlag[] = [
  { flags: '--logtostderr [bool]', accepted: yes, instead: inStderr },
  { flags: '--alsologtostderr [bool]', accepted: [...yes, ...no], instead: inStderr },
  { flags: '--stderrthreshold <level>', accepted: ['0', 'INFO', '2', 'ERROR'], instead: inStderr },
  { flags: '--log_dir <dir>', accepted: [''], instead: inStderr },
  { flags: '--log_file <file>', accepted: [''], instead: inStderr },
  { flags: '--log_file_max_size <megabytes>', accepted: ['1800'], instead: inStderr },
  { flags: '--one_output [bool]', accepted: no, instead: inStderr },
  { flags: '--log-flush-frequency <duration>', accepted: ['5s'], instead: 'every line is written at once' },
  { flags: '--logging-format <format>', accepted: ['json'], instead: 'logs are JSON: use json' },
  { flags: '--skip_headers [bool]', accepted: no, instead: 'filter the JSON lines' },
  { flags: '--skip_log_headers [bool]', accepted: no, instead: 'filter the JSON lines' },
  { flags: '--add_dir_header [bool]', accepted: no, instead: 'lines name their component' },
  { flags: '--log_backtrace_at <place>', accepted: ['', ':0'], instead: 'errors are logged with their stack' },
  { flags: '--vmodule <pattern>', accepted: [''], instead: 'use --v' },
];

/** Adds flags whose values are checked while they are parsed. */
export function addFixedFlags(command: Command, flags: readonly FixedFlag[]): Command {
  for (const { flags: text, accepted, instead } of flags) {
    const shown = accepted.map((value) => (value === '' ? 'empty' : value)).join(', ');
    const option = new Option(text, `accepted for compatibility as: ${shown}`).argParser((value: string) => {
      if (accepted.some((each) => each.toLowerCase() === value.toLowerCase())) return value;
      throw new InvalidArgumentError(`${instead}.`);
    });
    // A flag without its value means true.
    command.addOption(text.includes('[') ? option.preset('true') : option);
  }
  return command;
}
