import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { createAuthority } from '@kruise/machinery/x509/certificate';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { User } from '../user.ts';
import { anonymousUsers, authenticators, type Credentials } from './authenticator.ts';
import { bearerTokens } from './bearer-tokens.ts';
import { clientCertificates } from './client-certificate.ts';
import { frontProxies } from './front-proxy.ts';
import { impersonate } from './impersonation.ts';
import { staticTokens } from './static-tokens.ts';
import { InvalidToken, tokenAuthenticators } from './token.ts';

type Header = readonly [name: string, value: string];

/** What a request shows: headers and, perhaps, a certificate that TLS has found good. */
function shown(headers: readonly Header[], certificate?: string, path = '/api'): Credentials {
  const joined: { [name: string]: string } = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    joined[key] = joined[key] === undefined ? value : `${joined[key]}, ${value}`;
  }
  const known = certificate === undefined ? undefined : new X509Certificate(certificate);
  const socket = {
    authorized: known !== undefined,
    getPeerX509Certificate: () => known,
    getPeerCertificate: () => known?.toLegacyObject(),
  };
  return {
    rawPath: path,
    headers: joined as IncomingHttpHeaders,
    rawHeaders: headers.flat(),
    // Authenticators look at the certificate of a socket, and at nothing else of it.
    socket: socket as unknown as Credentials['socket'],
  };
}

const now = Date.parse('2026-01-01T00:00:00Z');
const users = createAuthority('users', now);
const proxies = createAuthority('proxies', now);
const issued = (authority: typeof users, commonName: string, ...organizations: readonly string[]) =>
  authority.issue({ subject: { commonName, organizations }, usages: ['client auth'], nowMs: now }).certificate;

const everyone = authenticators([
  frontProxies({ authority: proxies.certificate, allowedNames: ['front-proxy-client'] }),
  clientCertificates(users.certificate),
  bearerTokens(tokenAuthenticators([staticTokens('good,ann,u1,"team"')]), []),
  anonymousUsers(),
]);

const nameOf = async (credentials: Credentials) => (await everyone.authenticate(credentials))?.username;

test('a certificate says who its bearer is, and in which groups', async () => {
  const user = await everyone.authenticate(shown([], issued(users, 'bob', 'team-a', 'team-b')));
  assert.equal(user?.username, 'bob');
  assert.deepEqual(user?.groups.toSorted(), ['system:authenticated', 'team-a', 'team-b']);
  assert.match(user?.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^X509SHA256=[0-9a-f]{64}$/);
});

test('a token says who its bearer is', async () => {
  const user = await everyone.authenticate(shown([['Authorization', 'Bearer good']]));
  assert.deepEqual(user, { username: 'ann', uid: 'u1', groups: ['team', 'system:authenticated'] });
});

test('a token may come as the name of a protocol, next to one that is spoken', async () => {
  const named = `base64url.bearer.authorization.k8s.io.${Buffer.from('good').toString('base64url')}`;
  const offering = (protocols: string) =>
    shown([
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Protocol', protocols],
    ]);
  assert.equal(await nameOf(offering(`v5.channel.k8s.io, ${named}`)), 'ann');
  assert.equal(await nameOf(offering(named)), 'system:anonymous');
});

test('who shows a wrong token is nobody, not even anonymous', async () => {
  await assert.rejects(nameOf(shown([['Authorization', 'Bearer wrong']])), { message: 'Unauthorized', code: 401 });
});

test('who shows a good certificate and a wrong token is who the certificate says', async () => {
  assert.equal(await nameOf(shown([['Authorization', 'Bearer wrong']], issued(users, 'bob'))), 'bob');
});

test('who shows nothing is anonymous, and not in the group of those who are known', async () => {
  assert.deepEqual(await everyone.authenticate(shown([])), {
    username: 'system:anonymous',
    groups: ['system:unauthenticated'],
  });
});

test('where only some paths are for anyone, others are not', () => {
  const some = anonymousUsers(['/healthz']);
  assert.ok(some.authenticate(shown([], undefined, '/healthz')));
  assert.equal(some.authenticate(shown([], undefined, '/api')), undefined);
});

const remote: readonly Header[] = [
  ['X-Remote-User', 'carl'],
  ['X-Remote-Group', 'one, two'],
  ['X-Remote-Group', 'three'],
  ['X-Remote-Extra-Acme.com%2Fproject', 'p'],
];

test('a proxy says whom it speaks for, group by group', async () => {
  assert.deepEqual(await everyone.authenticate(shown(remote, issued(proxies, 'front-proxy-client'))), {
    username: 'carl',
    groups: ['one, two', 'three', 'system:authenticated'],
    extra: { 'acme.com/project': ['p'] },
  });
});

test('nobody else speaks for others', async () => {
  assert.equal(await nameOf(shown(remote, issued(users, 'bob'))), 'bob');
  assert.equal(await nameOf(shown(remote, issued(proxies, 'someone'))), 'system:anonymous');
  assert.equal(await nameOf(shown(remote)), 'system:anonymous');
});

test('the authority of proxies makes no users', async () => {
  assert.equal(await nameOf(shown([], issued(proxies, 'system:admin', 'system:masters'))), 'system:anonymous');
});

test('what is wrong with a token matters only if nobody takes it', async () => {
  const refuses = {
    authenticate() {
      throw new InvalidToken('expired');
    },
  };
  const first = tokenAuthenticators([refuses, staticTokens('good,ann,u1')]);
  assert.equal((await first.authenticate('good', []))?.user.username, 'ann');
  await assert.rejects(Promise.resolve(first.authenticate('other', [])), { message: 'expired' });
});

const root: User = { username: 'root', groups: [] };
/** Lets `root` stand for what is listed. */
const mayBe = (...allowed: readonly string[]): Authorizer => ({
  authorize(attributes) {
    assert.equal(attributes.verb, 'impersonate');
    if (!attributes.resource) throw new Error('only resources are impersonated');
    const { group, plural, subresource, namespace, name } = attributes;
    const what = [`${plural}${group && `.${group}`}${subresource && `/${subresource}`}`, namespace, name];
    const isAllowed = allowed.includes(what.filter(Boolean).join(' '));
    return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' };
  },
});

test('who does not ask to be another is themselves', async () => {
  assert.equal(await impersonate(mayBe(), root, shown([['Accept', '*/*']])), root);
});

test('a user may stand for another, with groups, a uid and more', async () => {
  const authorizer = mayBe(
    'users ann',
    'groups team',
    'uids.authentication.k8s.io u1',
    'userextras.authentication.k8s.io/scopes view',
  );
  const headers: readonly Header[] = [
    ['Impersonate-User', 'ann'],
    ['Impersonate-Group', 'team'],
    ['Impersonate-Uid', 'u1'],
    ['Impersonate-Extra-Scopes', 'view'],
  ];
  assert.deepEqual(await impersonate(authorizer, root, shown(headers)), {
    username: 'ann',
    uid: 'u1',
    groups: ['team', 'system:authenticated'],
    extra: { scopes: ['view'] },
  });
});

test('each thing another is must be allowed', async () => {
  const headers: readonly Header[] = [
    ['Impersonate-User', 'ann'],
    ['Impersonate-Group', 'system:masters'],
  ];
  await assert.rejects(impersonate(mayBe('users ann'), root, shown(headers)), {
    message:
      'groups "system:masters" is forbidden: User "root" cannot impersonate resource "groups" in API group "" at the cluster scope',
  });
});

test('an account is impersonated as an account, and is in its groups', async () => {
  const authorizer = mayBe('serviceaccounts apps robot');
  const { groups } = await impersonate(
    authorizer,
    root,
    shown([['Impersonate-User', 'system:serviceaccount:apps:robot']]),
  );
  assert.deepEqual(groups, ['system:serviceaccounts', 'system:serviceaccounts:apps', 'system:authenticated']);
});

test('nobody in particular is not in the group of those who are known', async () => {
  const authorizer = mayBe('users system:anonymous');
  const { groups } = await impersonate(authorizer, root, shown([['Impersonate-User', 'system:anonymous']]));
  assert.deepEqual(groups, ['system:unauthenticated']);
});

test('groups without a user are no one', async () => {
  await assert.rejects(impersonate(mayBe('groups team'), root, shown([['Impersonate-Group', 'team']])), {
    code: 500,
    message: /without impersonating a user$/,
  });
});
