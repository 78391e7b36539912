/** Root file systems from Debian packages, without installing them. */
import { existsSync, globSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runTool } from './tool.ts';

/** Parts of packages that containers never read. */
const unneeded = [
  'usr/share/doc',
  'usr/share/man',
  'usr/share/locale',
  'usr/share/lintian',
  'usr/lib/*/gconv',
  'var/lib/dpkg',
];
/** Packages that others depend on only for their installation scripts. */
const onlyForInstallation =
  /^(debconf|dpkg|perl-base|init-system-helpers|sysvinit-utils|adduser|passwd|tar|mawk|debianutils)_/;

/** Downloads packages with their dependencies into a cache, and returns the files. */
export function downloadPackages(packages: readonly string[], cache: string): readonly string[] {
  const folder = join(cache, 'debian', packages.toSorted().join('+'));
  const done = join(folder, 'complete');
  if (!existsSync(done)) {
    mkdirSync(join(folder, 'archives', 'partial'), { recursive: true });
    const status = join(folder, 'status');
    writeFileSync(status, '');
    // Without a status of installed packages, all dependencies are downloaded.
    const settings = [`Dir::State::status=${status}`, `Dir::Cache::archives=${join(folder, 'archives')}`];
    const quiet = ['pkgCacheGen::Essential=none', 'APT::Sandbox::User=root', 'APT::Install-Recommends=false'];
    const options = [...settings, ...quiet].flatMap((each) => ['-o', each]);
    runTool('apt-get', ['install', '-y', '-qq', '--download-only', ...options, ...packages]);
    writeFileSync(done, '');
  }
  return globSync(join(folder, 'archives', '*.deb')).sort();
}

/** Unpacks packages into a folder. */
export function unpackPackages(packages: readonly string[], cache: string, folder: string): void {
  const isWanted = (file: string) =>
    packages.some((name) => basename(file).startsWith(`${name}_`)) || !onlyForInstallation.test(basename(file));
  for (const file of downloadPackages(packages, cache).filter(isWanted))
    runTool('dpkg-deb', ['--extract', file, folder]);
  for (const pattern of unneeded) {
    for (const path of globSync(join(folder, pattern))) rmSync(path, { recursive: true });
  }
}

/** Adds a symbolic link to BusyBox for each of its tools that the folder does not have from another package. */
export function linkBusybox(folder: string): void {
  const places = ['bin', 'sbin', 'usr/bin', 'usr/sbin'];
  mkdirSync(join(folder, 'bin'), { recursive: true });
  for (const tool of runTool(join(folder, 'bin/busybox'), ['--list']).trim().split('\n')) {
    if (places.some((place) => existsSync(join(folder, place, tool)))) continue;
    symlinkSync('busybox', join(folder, 'bin', tool));
  }
}
