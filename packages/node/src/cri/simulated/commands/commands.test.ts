import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptTables } from '../testing/scripts.ts';

const { sh, rows } = scriptTables();

rows('text', [
  ['echo -n a; echo -e "b\\tc"', 'ab\tc\n'],
  ['printf "%s=%d %05.1f|%-4s|%3s\\n" a 7 2.55 x y', 'a=7 002.5|x   |  y\n'],
  ['printf "%s\\n" a b c', 'a\nb\nc\n'],
  ['printf "a\\nb\\nc\\n" | head -2 | tail -n 1', 'b\n'],
  ['printf "a\\nb\\nc\\n" | tail -n +2', 'b\nc\n'],
  ['printf "one two\\nthree\\n" | wc -w', '3\n'],
  ['printf "a1\\nb2\\n" | grep -v 1', 'b2\n'],
  ['echo aXb | grep -o "[A-Z]"', 'X\n'],
  ['echo none | grep x', '', 1],
  ['echo "a+b" | grep "a+b" && echo ab | grep -E "a|c"', 'a+b\nab\n'],
  ['echo abc | grep -iq B && echo found', 'found\n'],
  ['echo "a:b:c" | cut -d: -f1,3', 'a:c\n'],
  ['echo abcdef | cut -c2-4', 'bcd\n'],
  ['printf "10\\n9\\n" | sort -n', '9\n10\n'],
  ['printf "a\\na\\nb\\n" | uniq -c', '      2 a\n      1 b\n'],
  ['echo hello | tr -d l | tr a-z A-Z', 'HEO\n'],
  ['echo "a/b" | sed "s|/|-|; s/a/[&]/"', '[a]-b\n'],
  ['echo aaa | sed "s/a/b/g"', 'bbb\n'],
  ['echo "k=v" | sed -E "s/(.)=(.)/\\2=\\1/"', 'v=k\n'],
  ['echo "5" | sed "s/5/\\$5/"', '$5\n'],
  ['printf "a\\nb\\nc\\n" | sed -n 2p', 'b\n'],
  ['echo x > /s; sed -i s/x/y/ /s; cat /s', 'y\n'],
  ['echo "a b c" | awk \'{print $2, $NF}\'', 'b c\n'],
  ['echo hi | base64 | base64 -d', 'hi\n'],
  [
    'printf "0123456789\\n" | hexdump -C',
    '00000000  30 31 32 33 34 35 36 37  38 39 0a                 |0123456789.|\n0000000b\n',
  ],
  ['echo hi | tee /t | cat; cat /t', 'hi\nhi\n'],
  ['printf "" | md5sum', 'd41d8cd98f00b204e9800998ecf8427e  -\n'],
]);

rows('files', [
  ['mkdir -p /d/e && touch /d/e/f && ls /d/e', 'f\n'],
  ['mkdir /d1 /d2 && ls -d /d1 /d2', '/d1\n/d2\n'],
  ['mkdir /none/x', '', 1],
  ['echo 1 > /m1; mv -v /m1 /m2; cat /m2; ls /m1', "'/m1' -> '/m2'\n1\n", 1],
  ['mkdir -p /c1/x; echo 1 > /c1/x/y; cp -r /c1 /c2; cat /c2/x/y', '1\n'],
  ['touch /r; rm /r; rm -f /r; rm /r', '', 1],
  ['mkdir /rd; rm /rd; rm -rf /rd && ls /rd', '', 1],
  ['ln -s /etc/hostname /l; readlink /l; readlink -f /l', '/etc/hostname\n/etc/hostname\n'],
  ['touch /p; chmod 640 /p; stat -c %a /p; chmod +x /p; stat -c %a /p', '640\n751\n'],
  [
    'mkdir -p /fd/a; touch /fd/a/x.txt /fd/y.log; find /fd -name "*.txt"; find /fd -type d',
    '/fd/a/x.txt\n/fd\n/fd/a\n',
  ],
  ['dd if=/dev/zero of=/z bs=1k count=4 2>/dev/null; stat -c %s /z', '4096\n'],
  ['basename /a/b.c .c; dirname /a/b', 'b\n/a\n'],
  ['mkdir /tx && cd /tx && echo 1 > a && tar cf - a | tar -xf - -C /tmp && cat /tmp/a', '1\n'],
  ['test -d /tmp && test ! -e /nope && [ -n "x" -a 3 -gt 2 ] && echo yes', 'yes\n'],
  ['[ a = b ]', '', 1],
  ['[ 1 -lt x ]', '', 2],
]);

rows('the system', [
  ['hostname', 'pod-1\n'],
  ['date +%Y-%m-%dT%H:%M:%SZ', '2026-01-02T03:04:05Z\n'],
  ['date', 'Fri Jan  2 03:04:05 UTC 2026\n'],
  ['id -u; whoami', '0\nroot\n'],
  ['which sh; which nothing', '/bin/sh\n', 1],
  ['command -v ls', '/bin/ls\n'],
  ['seq 1 2 5', '1\n3\n5\n'],
  ['expr 2 + 3 \\* 4', '14\n'],
  ['expr 1 - 1', '0\n', 1],
  ['env -i A=b env', 'A=b\n'],
  ['printenv HOSTNAME', 'pod-1\n'],
  ['echo a b c | xargs -n1 echo x', 'x a\nx b\nx c\n'],
  ['kill -0 1 && echo there; kill -0 999', 'there\n', 1],
  ['timeout 5 true; echo $?', '0\n'],
  ['wget -qO- http://localhost:1', '', 1],
  ['nc -z localhost 1', '', 1],
]);

test('an archive of a directory survives the round trip', async () => {
  await sh('mkdir -p /in/deep && echo one > /in/deep/file && ln -s deep/file /in/link');
  await sh('mkdir /out && tar -C / -cf /all.tar in && tar -C /out -xf /all.tar');
  const { stdout } = await sh('cat /out/in/link; readlink /out/in/link');
  assert.equal(stdout, 'one\ndeep/file\n');
});
