// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the simulated shell expands them
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scriptTables } from '../testing/scripts.ts';

const { node, sh, rows } = scriptTables();

rows('lists', [
  ['echo a; echo b', 'a\nb\n'],
  ['true && echo yes || echo no', 'yes\n'],
  ['false && echo yes || echo no', 'no\n'],
  ['false || false || echo third', 'third\n'],
  ['! false', ''],
  ['! true', '', 1],
  ['exit 3', '', 3],
  ['exit 300', '', 44],
  ['false', '', 1],
  ['echo a\n\n# nothing\necho b # more\n', 'a\nb\n'],
  ['(exit 4); echo $?', '4\n'],
  ['{ echo a; echo b; } | wc -l', '2\n'],
  ['x=1; (x=2); echo $x', '1\n'],
  ['x=1; { x=2; }; echo $x', '2\n'],
]);

rows('pipes', [
  ['echo hello | cat | tr a-z A-Z', 'HELLO\n'],
  ['yes | head -n 2', 'y\ny\n'],
  ['printf "b\\na\\nb\\n" | sort -u', 'a\nb\n'],
  ['false | true', ''],
  ['true | false', '', 1],
  ['echo a b c | while read x y; do echo "$y-$x"; done', 'b c-a\n'],
  ['seq 3 | xargs echo', '1 2 3\n'],
]);

rows('compound commands', [
  ['if true; then echo yes; else echo no; fi', 'yes\n'],
  ['if false; then echo 1; elif true; then echo 2; fi', '2\n'],
  ['if [ -f /none ]; then echo 1; fi', ''],
  ['for i in 1 2 3; do echo $i; done', '1\n2\n3\n'],
  ['for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done', '1\n3\n'],
  ['for i in 1 2 3; do [ $i = 2 ] && break; echo $i; done', '1\n'],
  ['for i in 1 2; do for j in a b; do break 2; done; done; echo $i$j', '1a\n'],
  ['i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i', '3\n'],
  ['i=0; until [ $i -ge 2 ]; do i=$((i+1)); done; echo $i', '2\n'],
  ['case abc in x) echo 1;; a*|b*) echo 2;; *) echo 3;; esac', '2\n'],
  ['case "$NOTHING" in "") echo empty;; esac', 'empty\n'],
  ['f() { echo "$1 of $#"; return 5; }; f a b; echo $?', 'a of 2\n5\n'],
  ['function g { echo g; }; g', 'g\n'],
  ['set -- a b; for x; do echo $x; done', 'a\nb\n'],
]);

rows('expansion', [
  ['x=5; echo $x ${x}y "$x" \'$x\'', '5 5y 5 $x\n'],
  ['echo ${NONE:-default} ${NONE:+set}', 'default\n'],
  ['x=; echo ${x-a}${x:-b}', 'b\n'],
  ['echo ${y:=3}; echo $y', '3\n3\n'],
  ['x=hello; echo ${#x}', '5\n'],
  ['x=a.tar.gz; echo ${x%.*} ${x%%.*} ${x#*.} ${x##*.}', 'a.tar a tar.gz gz\n'],
  ['x=aXbXc; echo ${x/X/-} ${x//X/-}', 'a-bXc a-b-c\n'],
  ['x=abcdef; echo ${x:2:3}', 'cde\n'],
  ['echo $(echo a b)', 'a b\n'],
  ['echo `echo a`$(echo $(echo b))', 'ab\n'],
  ['x="a  b"; echo $x; echo "$x"', 'a b\na  b\n'],
  ['set -- "a b" c; for x in "$@"; do echo "[$x]"; done', '[a b]\n[c]\n'],
  ['echo $((2 + 3 * 4)) $(( (1 << 4) | 1 )) $((7 / 2)) $((1 > 2 ? 8 : 9))', '14 17 3 9\n'],
  ['i=1; echo $((i++)) $i $((i += 5))', '1 2 7\n'],
  ['echo "$(printf "a\\n\\n")"', 'a\n'],
  ['echo a"b"\'c\'\\d', 'abcd\n'],
  ['echo "a\\$b\\"c"', 'a$b"c\n'],
  ['mkdir -p /g && cd /g && touch b.txt a.txt c.log && echo *.txt [bc].*', 'a.txt b.txt b.txt c.log\n'],
  ['echo "*.txt" /nowhere/*', '*.txt /nowhere/*\n'],
  ['echo ~', '/root\n'],
  ['echo ${none?gone}', '', 2],
]);

rows('redirection', [
  ['echo a > /f; echo b >> /f; cat /f', 'a\nb\n'],
  ['cat < /etc/hostname | wc -l', '1\n'],
  ['ls /none 2>/dev/null || echo failed', 'failed\n'],
  ['ls /none 2>&1', 'ls: /none: No such file or directory\n', 1],
  ['echo hidden > /dev/null', ''],
  ['echo all &> /all; cat /all', 'all\n'],
  ['cat <<END\nx is $((1+1))\nEND', 'x is 2\n'],
  ["cat <<'END'\n$x\nEND", '$x\n'],
  ['cat <<< word', 'word\n'],
  ['{ echo a; echo b >&2; } 2>/err; cat /err', 'a\nb\n'],
  ['echo x > /no/such/file', '', 1],
  ['cat < /missing', '', 1],
]);

rows('variables and options', [
  ['A=1 env | grep ^A=', 'A=1\n'],
  ['A=1; env | grep -c ^A=', '0\n', 1],
  ['export A=1; env | grep ^A=', 'A=1\n'],
  ['set -e; false; echo reached', '', 1],
  ['set -e; false || true; echo reached', 'reached\n'],
  ['set -e; if false; then :; fi; echo reached', 'reached\n'],
  ['set -u; echo $undefined_variable; echo reached', '', 2],
  ["sh -c 'echo $0 $1' name argument", 'name argument\n'],
  ['x=$(false); echo $?', '1\n'],
  ['unset HOME; echo "[$HOME]"', '[]\n'],
  ['eval "x=1; echo \\$x"', '1\n'],
  ['echo "echo sourced" > /s.sh; . /s.sh', 'sourced\n'],
  ['trap "echo bye" EXIT; echo hi', 'hi\nbye\n'],
  ['cd /tmp && pwd && cd - > /dev/null && pwd', '/tmp\n/\n'],
]);

rows('mistakes', [
  ['no-such-command', '', 127],
  ['if true', '', 2],
  ['echo "unterminated', '', 2],
  ['fi', '', 2],
  ['echo a &&', '', 2],
  ['touch /plain; /plain', '', 126],
  ['echo $((1 / 0))', '', 2],
]);

test('a missing command has ash’s error message', async () => {
  assert.equal((await sh('nope')).stderr, 'sh: nope: not found\n');
});

describe('time', () => {
  test('sleep takes its duration', async () => {
    const started = node.clock.now();
    const done = sh('sleep 1.5; sleep 1m');
    await node.advance(120_000);
    await done;
    const { stdout } = await sh('date +%s');
    assert.ok(Number(stdout) * 1000 >= started + 61_500);
  });

  test('jobs run in parallel, and can be waited for', async () => {
    const started = node.clock.now();
    let endedAt = 0;
    const done = sh('sleep 5 & sleep 5 & wait; echo done').then((result) => {
      endedAt = node.clock.now();
      return result;
    });
    await node.advance(10_000);
    assert.equal((await done).stdout, 'done\n');
    assert.equal(endedAt - started, 5000);
  });

  test('a killed job has the exit code of its signal', async () => {
    const { stdout } = await sh('sleep 100 & kill $!; wait $!; echo $?');
    assert.equal(stdout, '143\n');
  });

  test('a busy loop takes time', async () => {
    const done = sh('timeout 5 sh -c "while true; do :; done"; echo $?');
    await node.advance(10_000);
    assert.equal((await done).stdout, '124\n');
  });
});
