/** Images of the end-to-end tests, under the names by which tests and users know them. */
import type { ImageConfig } from './store.ts';

/** A program to add to an image. */
export type Program =
  /** A folder beside this file with Go sources. */
  | { readonly own: string; readonly path: string; readonly mode?: number }
  /** A package of Kubernetes' module. */
  | { readonly kubernetes: string; readonly path: string }
  /** The main package of another module. */
  | { readonly module: string; readonly version: string; readonly path: string };

/** Recipe of an image. */
export type Recipe = {
  readonly names: readonly string[];
  /** Debian packages; BusyBox is added to every image with packages. */
  readonly packages?: readonly string[];
  readonly programs?: readonly Program[];
  /** Files by path. */
  readonly files?: { readonly [path: string]: string };
  /** Files of Kubernetes' module by path. */
  readonly kubernetesFiles?: { readonly [path: string]: string };
  readonly links?: { readonly [path: string]: string };
  readonly directories?: readonly string[];
  readonly config: ImageConfig;
};

const e2e = (name: string) => `registry.k8s.io/e2e-test-images/${name}`;
const library = (name: string) => `docker.io/library/${name}`;
const shell = ['busybox-static', 'libc6'];
const agnhostProgram: Program = { kubernetes: 'k8s.io/kubernetes/test/images/agnhost', path: 'agnhost' };
const images = 'test/images';

const accounts = {
  'etc/passwd': [
    'root:x:0:0:root:/root:/bin/sh',
    'www-data:x:33:33:www-data:/var/www:/bin/false',
    'user-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh',
    'nobody:x:65534:65534:nobody:/nonexistent:/bin/false',
    '',
  ].join('\n'),
  'etc/group': [
    'root:x:0:',
    'www-data:x:33:',
    'user-defined-in-image:x:1000:',
    'group-defined-in-image:x:50000:user-defined-in-image',
    'nogroup:x:65534:',
    '',
  ].join('\n'),
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

const busybox = { packages: shell, files: accounts, config: { Cmd: ['sh'] } } as const;

/** Versions differ only in their digest, which is what tests compare. */
const version = (text: string) => ({ Labels: { version: text } });

const nginx = {
  packages: [...shell, 'nginx-light'],
  files: {
    ...accounts,
    'etc/nginx/nginx.conf': `user www-data;
worker_processes 1;
pid /run/nginx.pid;
error_log /dev/stderr notice;
events { worker_connections 512; }
http {
  include mime.types;
  access_log /dev/stdout;
  server {
    listen 80;
    root /usr/share/nginx/html;
    location / { index index.html index.htm; }
  }
}
`,
    'usr/share/nginx/html/index.html':
      '<!DOCTYPE html>\n<html><head><title>Welcome to nginx!</title></head><body><h1>Welcome to nginx!</h1></body></html>\n',
  },
  directories: ['run', 'var/lib/nginx', 'var/log/nginx'],
  config: { Cmd: ['nginx', '-g', 'daemon off;'], ExposedPorts: { '80/tcp': {} } },
} as const;

const httpd = {
  packages: shell,
  files: { ...accounts, 'usr/local/apache2/htdocs/index.html': '<html><body><h1>It works!</h1></body></html>\n' },
  config: {
    Cmd: ['httpd', '-f', '-v', '-p', '80', '-h', '/usr/local/apache2/htdocs'],
    ExposedPorts: { '80/tcp': {} },
  },
} as const;

const agnhost = {
  packages: [...shell, 'bash', 'bind9-dnsutils', 'curl', 'libc-bin', 'iperf', 'iproute2', 'netcat-openbsd', 'wget'],
  programs: [agnhostProgram, { module: 'github.com/coredns/coredns', version: 'v1.12.1', path: 'coredns' }],
  kubernetesFiles: {
    'localhost.crt': `${images}/agnhost/porter/localhost.crt`,
    'localhost.key': `${images}/agnhost/porter/localhost.key`,
  },
  files: accounts,
  // BusyBox's shell would run its own nc and nslookup; its wget, linked statically, crashes with a timeout.
  links: { 'agnhost-2': 'agnhost', 'bin/nc': 'nc.openbsd', 'bin/sh': 'bash' },
  directories: ['uploads', 'home/user-defined-in-image'],
  config: {
    Entrypoint: ['/agnhost'],
    Cmd: ['pause'],
    ExposedPorts: { '80/tcp': {}, '8080/tcp': {}, '8081/tcp': {}, '9376/tcp': {}, '5000/tcp': {} },
  },
} as const;

const pet = (name: string): Recipe => ({
  ...agnhost,
  names: [e2e(`${name}:1.7`)],
  kubernetesFiles: {
    [`${name}.jpg`]: `${images}/${name}/html/${name}.jpg`,
    'data.json': `${images}/${name}/html/data.json`,
  },
  config: { ...agnhost.config, Cmd: ['test-webserver'] },
});

/** Images that the tests of this repository need. */
export const basicImages = ['registry.k8s.io/pause:3.10', library('busybox:latest'), library('nginx:latest')] as const;

export const recipes: readonly Recipe[] = [
  {
    names: ['registry.k8s.io/pause:3.10'],
    programs: [{ own: 'pause', path: 'pause' }],
    config: { Entrypoint: ['/pause'], User: '65535:65535' },
  },
  { ...busybox, names: [library('busybox:latest'), library('busybox:1.36')] },
  // Debian's BusyBox shell drops environment variables whose names are no identifiers, which upstream's keeps.
  { ...busybox, names: [e2e('busybox:1.36.1-1')], packages: [...shell, 'bash'], links: { 'bin/sh': 'bash' } },
  {
    ...busybox,
    names: [library('busybox:1.32'), e2e('busybox:1.29-4')],
    config: { ...busybox.config, ...version('1.32') },
  },
  { ...nginx, names: [library('nginx:latest'), library('nginx:1.14.2'), e2e('nginx:1.14-4')] },
  { ...nginx, names: [e2e('nginx:1.15-4'), library('nginx:1.15')], config: { ...nginx.config, ...version('1.15') } },
  {
    ...nginx,
    names: [library('nginx:alpine'), library('nginx:mainline-alpine')],
    config: { ...nginx.config, ...version('alpine') },
  },
  { ...httpd, names: [e2e('httpd:2.4.38-4'), library('httpd:latest')] },
  { ...httpd, names: [e2e('httpd:2.4.39-4')], config: { ...httpd.config, ...version('2.4.39') } },
  { ...agnhost, names: [e2e('agnhost:2.53')] },
  pet('kitten'),
  pet('nautilus'),
  {
    names: [e2e('nonewprivs:1.3')],
    packages: shell,
    files: accounts,
    programs: [{ own: 'nonewprivs', path: 'usr/local/bin/nnp', mode: 0o6755 }],
    config: { Cmd: ['nnp'] },
  },
  { ...busybox, names: [e2e('nonroot:1.4')], config: { ...busybox.config, User: '1234' } },
  {
    names: [e2e('jessie-dnsutils:1.7')],
    packages: [...shell, 'bash', 'bind9-dnsutils', 'libc-bin'],
    files: accounts,
    links: { 'bin/sh': 'bash' },
    config: { Cmd: ['bash'] },
  },
  { names: [e2e('ipc-utils:1.3')], packages: [...shell, 'util-linux'], files: accounts, config: { Cmd: ['sh'] } },
  { names: [e2e('perl:5.26')], packages: [...shell, 'perl'], files: accounts, config: { Cmd: ['perl', '-de0'] } },
  {
    names: [e2e('redis:5.0.5-3'), library('redis:latest')],
    packages: [...shell, 'redis-server'],
    files: accounts,
    directories: ['data'],
    config: { Cmd: ['redis-server', '--protected-mode', 'no'], WorkingDir: '/data', ExposedPorts: { '6379/tcp': {} } },
  },
  {
    names: ['registry.k8s.io/etcd:3.5.21-0'],
    packages: [...shell, 'etcd-server'],
    files: accounts,
    links: { 'usr/local/bin/etcd': '/usr/bin/etcd' },
    config: { Cmd: ['etcd'], ExposedPorts: { '2379/tcp': {} } },
  },
  {
    names: [e2e('sample-apiserver:1.29.2')],
    programs: [{ module: 'k8s.io/sample-apiserver', version: 'v0.33.4', path: 'sample-apiserver' }],
    config: { Entrypoint: ['/sample-apiserver'] },
  },
  {
    names: [e2e('resource-consumer:1.13')],
    packages: [...shell, 'stress'],
    files: accounts,
    programs: [
      { kubernetes: 'k8s.io/kubernetes/test/images/resource-consumer', path: 'consumer' },
      { kubernetes: 'k8s.io/kubernetes/test/images/resource-consumer/consume-cpu', path: 'consume-cpu/consume-cpu' },
    ],
    config: { Entrypoint: ['/consumer'], ExposedPorts: { '8080/tcp': {} } },
  },
  {
    names: [e2e('regression-issue-74839:1.2')],
    programs: [{ kubernetes: 'k8s.io/kubernetes/test/images/regression-issue-74839', path: 'regression-issue-74839' }],
    config: { Entrypoint: ['/regression-issue-74839'] },
  },
];
