/** Images that the simulation knows: their programs, users and stop signals. Sizes are compressed, as pulled. */
import type { SignalName } from './process.ts';

export type ImageDefinition = {
  readonly repositories: readonly string[];
  readonly megabytes: number;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** UID or user name. */
  readonly user?: number | string;
  readonly stopSignal?: SignalName;
  /** Tools in the image: those of BusyBox, those of a distribution (with bash), or none. */
  readonly tools: 'busybox' | 'distribution' | 'none';
  /** Additional programs besides the entrypoint: clients that succeed, and interpreters. */
  readonly clients?: readonly string[];
  readonly interpreters?: readonly string[];
  /** Programs that the simulation implements. */
  readonly programs?: readonly string[];
  /** Ports that its server listens on. */
  readonly ports?: readonly number[];
  /** Groups of tags that refer to the same image. */
  readonly sameTags?: readonly (readonly string[])[];
  readonly files?: Readonly<Record<string, string>>;
};

const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Default environment of every image. */
export const defaultEnvironment: Readonly<Record<string, string>> = { PATH: searchPath };

const library = (name: string) => `docker.io/library/${name}`;

const nginxPage = `<!DOCTYPE html>
<html>
<head><title>Welcome to nginx!</title></head>
<body><h1>Welcome to nginx!</h1></body>
</html>
`;

const webServers: readonly ImageDefinition[] = [
  {
    repositories: [library('nginx'), 'registry.k8s.io/e2e-test-images/nginx', 'quay.io/nginx/nginx'],
    megabytes: 70,
    entrypoint: ['/docker-entrypoint.sh'],
    command: ['nginx', '-g', 'daemon off;'],
    environment: { PATH: searchPath, NGINX_VERSION: '1.29.1' },
    stopSignal: 'SIGQUIT',
    tools: 'distribution',
    ports: [80],
    sameTags: [
      ['latest', 'mainline', '1', '1.29', '1.29.1', 'bookworm', 'mainline-bookworm'],
      ['alpine', 'mainline-alpine', '1-alpine', '1.29-alpine', '1.29.1-alpine'],
      ['stable', '1.28', '1.28.0'],
      ['stable-alpine', '1.28-alpine', '1.28.0-alpine'],
    ],
    files: { '/usr/share/nginx/html/index.html': nginxPage, '/etc/nginx/nginx.conf': 'worker_processes auto;\n' },
  },
  {
    repositories: ['docker.io/nginxinc/nginx-unprivileged'],
    megabytes: 70,
    entrypoint: ['/docker-entrypoint.sh'],
    command: ['nginx', '-g', 'daemon off;'],
    user: 101,
    stopSignal: 'SIGQUIT',
    tools: 'distribution',
    ports: [8080],
    files: { '/usr/share/nginx/html/index.html': nginxPage },
  },
  {
    repositories: [library('httpd'), 'registry.k8s.io/e2e-test-images/httpd'],
    megabytes: 58,
    command: ['httpd-foreground'],
    environment: { PATH: `/usr/local/apache2/bin:${searchPath}`, HTTPD_PREFIX: '/usr/local/apache2' },
    workingDirectory: '/usr/local/apache2',
    stopSignal: 'SIGWINCH',
    tools: 'distribution',
    ports: [80],
    sameTags: [
      ['latest', '2', '2.4', '2.4.65'],
      ['alpine', '2-alpine', '2.4-alpine'],
    ],
    files: { '/usr/local/apache2/htdocs/index.html': '<html><body><h1>It works!</h1></body></html>\n' },
  },
];

/**
 * Probe of a game server that opens in steps, by the time since its first probe: closed, then data loaded, then gate
 * open.
 */
const gameServerProbe = `now=$(date +%s)
if [ ! -f /tmp/first-check ]; then echo $now > /tmp/first-check; fi
age=$((now - $(cat /tmp/first-check)))
if [ $age -lt 6 ]; then exit 1; fi
if [ $age -lt 16 ]; then echo data; else echo gate; fi
`;

const testImages: readonly ImageDefinition[] = [
  {
    repositories: [
      'registry.k8s.io/pause',
      'k8s.gcr.io/pause',
      'gcr.io/google_containers/pause',
      'docker.io/rancher/mirrored-pause',
    ],
    megabytes: 0.3,
    entrypoint: ['/pause'],
    user: 65535,
    tools: 'none',
  },
  {
    repositories: [
      'registry.k8s.io/e2e-test-images/agnhost',
      'k8s.gcr.io/e2e-test-images/agnhost',
      'docker.io/openkruise/agnhost',
    ],
    megabytes: 48,
    entrypoint: ['/agnhost'],
    command: ['pause'],
    programs: ['/agnhost-2'],
    tools: 'distribution',
  },
  {
    repositories: [
      library('busybox'),
      'registry.k8s.io/e2e-test-images/busybox',
      'registry.k8s.io/busybox',
      'k8s.gcr.io/busybox',
      'quay.io/prometheus/busybox',
    ],
    megabytes: 2.1,
    command: ['sh'],
    tools: 'busybox',
    sameTags: [
      ['latest', '1', '1.37', '1.37.0', 'glibc'],
      ['musl', '1-musl', '1.37-musl'],
    ],
  },
  {
    repositories: ['registry.k8s.io/e2e-test-images/sample-apiserver'],
    megabytes: 24,
    entrypoint: ['/sample-apiserver'],
    tools: 'none',
  },
  {
    repositories: ['docker.io/openkruise/minecraft-demo'],
    megabytes: 250,
    command: ['minecraft-server'],
    workingDirectory: '/minecraft',
    tools: 'distribution',
    ports: [25565],
    files: { '/minecraft/probe.sh': gameServerProbe },
  },
  {
    repositories: ['registry.k8s.io/e2e-test-images/nonewprivs'],
    megabytes: 3,
    command: ['nnp'],
    tools: 'busybox',
  },
  {
    repositories: ['registry.k8s.io/e2e-test-images/nonroot'],
    megabytes: 3,
    entrypoint: ['/bin/sh'],
    user: 1234,
    tools: 'busybox',
  },
  {
    repositories: ['registry.k8s.io/e2e-test-images/jessie-dnsutils'],
    megabytes: 120,
    command: ['bash'],
    tools: 'distribution',
  },
  ...['kitten', 'nautilus'].map(
    (name): ImageDefinition => ({
      repositories: [`registry.k8s.io/e2e-test-images/${name}`],
      megabytes: 20,
      entrypoint: ['/agnhost'],
      command: ['test-webserver'],
      tools: 'distribution',
      files: { '/data.json': `{\n  "image": "${name}.jpg"\n}\n` },
    }),
  ),
];

const shells: readonly ImageDefinition[] = [
  { repositories: [library('alpine')], megabytes: 3.6, command: ['/bin/sh'], tools: 'busybox' },
  { repositories: [library('bash')], megabytes: 6, command: ['bash'], tools: 'distribution' },
  ...['ubuntu', 'debian', 'fedora', 'centos', 'rockylinux', 'almalinux', 'amazonlinux', 'buildpack-deps'].map(
    (name): ImageDefinition => ({
      repositories: [library(name)],
      megabytes: 45,
      command: ['bash'],
      tools: 'distribution',
    }),
  ),
  language('golang', [], ['go', 'gofmt', 'make', 'git']),
  language('gcc', [], ['gcc', 'g++', 'make']),
  language('rust', [], ['cargo', 'rustc']),
  language('maven', ['java'], ['mvn']),
  language('gradle', ['java'], ['gradle']),
  language('eclipse-temurin', ['java'], ['javac']),
  language('openjdk', ['java'], ['javac']),
  language('php', ['php'], ['composer']),
  language('ruby', ['ruby', 'rails'], ['gem', 'bundle']),
  language('node', ['node', 'npm', 'npx', 'yarn'], []),
  language('python', ['python', 'python3', 'gunicorn', 'uvicorn', 'flask'], ['pip', 'pip3']),
  language('docker', [], ['docker']),
  {
    repositories: [library('perl'), 'registry.k8s.io/e2e-test-images/perl'],
    megabytes: 120,
    command: ['bash'],
    tools: 'distribution',
    clients: ['perl'],
  },
  { repositories: [library('hello-world')], megabytes: 0.01, command: ['/hello'], tools: 'none' },
];

const servers: readonly ImageDefinition[] = [
  server('redis', 52, ['redis-server'], 6379, ['redis-cli']),
  server('valkey', 50, ['valkey-server'], 6379, ['valkey-cli']),
  server('memcached', 30, ['memcached'], 11211),
  server('mysql', 240, ['mysqld'], 3306, ['mysql', 'mysqladmin', 'mysqldump']),
  server('mariadb', 120, ['mariadbd'], 3306, ['mariadb', 'mariadb-admin', 'mysql', 'mysqladmin', 'healthcheck.sh']),
  {
    ...server('postgres', 150, ['postgres'], 5432, ['psql', 'pg_isready', 'pg_dump', 'createdb']),
    stopSignal: 'SIGINT',
  },
  server('mongo', 270, ['mongod'], 27017, ['mongo', 'mongosh']),
  server('rabbitmq', 100, ['rabbitmq-server'], 5672, ['rabbitmqctl', 'rabbitmq-diagnostics']),
  server('nats', 10, ['nats-server'], 4222),
  server('zookeeper', 120, ['zkServer.sh', 'start-foreground'], 2181, ['zkCli.sh', 'zookeeper-ready']),
  server('elasticsearch', 600, ['elasticsearch'], 9200),
  server('kibana', 500, ['kibana'], 5601),
  server('influxdb', 140, ['influxd'], 8086, ['influx']),
  server('traefik', 50, ['traefik'], 80),
  server('haproxy', 40, ['haproxy', '-f', '/usr/local/etc/haproxy/haproxy.cfg'], 80),
  server('caddy', 20, ['caddy', 'run'], 80),
  server('registry', 10, ['registry', 'serve', '/etc/distribution/config.yml'], 5000),
  server('tomcat', 180, ['catalina.sh', 'run'], 8080),
  server('jetty', 180, ['jetty.sh', 'run'], 8080),
  server('wordpress', 200, ['apache2-foreground'], 80),
  server('ghost', 150, ['node', 'current/index.js'], 2368),
  server('consul', 50, ['consul', 'agent', '-dev'], 8500),
  server('vault', 80, ['vault', 'server', '-dev'], 8200),
  server('telegraf', 100, ['telegraf'], 8125),
  server('cassandra', 150, ['cassandra'], 9042, ['cqlsh', 'nodetool']),
];

/** Returns a server image with the clients that probes use. */
function server(
  name: string,
  megabytes: number,
  command: readonly string[],
  port: number,
  clients: readonly string[] = [],
): ImageDefinition {
  return { repositories: [library(name)], megabytes, command, tools: 'distribution', ports: [port], clients };
}

/** Returns an image of a programming language. */
function language(name: string, interpreters: readonly string[], clients: readonly string[]): ImageDefinition {
  return {
    repositories: [library(name)],
    megabytes: 350,
    command: ['bash'],
    tools: 'distribution',
    interpreters,
    clients,
  };
}

export const wellKnownImages: readonly ImageDefinition[] = [...webServers, ...testImages, ...shells, ...servers];
