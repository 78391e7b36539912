import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLogLine } from './log-format.ts';

const shown = (line: string) => {
  const entry = parseLogLine(Buffer.from(line));
  return entry && [entry.timestamp, entry.stream, entry.isPartial, Buffer.from(entry.content).toString()];
};

const cases: readonly [what: string, line: string, expected: readonly unknown[] | undefined][] = [
  [
    'a whole line',
    '2016-10-06T00:17:09.669794202Z stdout F the text',
    ['2016-10-06T00:17:09.669794202Z', 'stdout', false, 'the text'],
  ],
  ['part of a line', '2016-10-06T00:17:09Z stderr P part', ['2016-10-06T00:17:09Z', 'stderr', true, 'part']],
  [
    'tags of later versions',
    '2016-10-06T00:17:09Z stdout F:x:y text',
    ['2016-10-06T00:17:09Z', 'stdout', false, 'text'],
  ],
  ['an empty line', '2016-10-06T00:17:09Z stdout F ', ['2016-10-06T00:17:09Z', 'stdout', false, '']],
  ['an empty line without its space', '2016-10-06T00:17:09Z stdout F', ['2016-10-06T00:17:09Z', 'stdout', false, '']],
  ['another zone', '2016-10-06T00:17:09.1+02:00 stdout F x', ['2016-10-06T00:17:09.1+02:00', 'stdout', false, 'x']],
  ['spaces in the text', '2016-10-06T00:17:09Z stdout F  a  b ', ['2016-10-06T00:17:09Z', 'stdout', false, ' a  b ']],
  ['another stream', '2016-10-06T00:17:09Z stdin F x', undefined],
  ['no time', 'yesterday stdout F x', undefined],
  ['too few parts', '2016-10-06T00:17:09Z stdout', undefined],
  ['nothing', '', undefined],
  [
    'Docker’s JSON',
    '{"log":"text\\n","stream":"stderr","time":"2016-10-06T00:17:09Z"}',
    ['2016-10-06T00:17:09Z', 'stderr', false, 'text'],
  ],
  ['broken JSON', '{"log":', undefined],
];
for (const [what, line, expected] of cases) {
  test(what, () => assert.deepEqual(shown(line), expected));
}
