import { describe, expect, test } from 'vitest';
import { commandPattern } from './command-pattern.ts';

function caught(rule: string, command: string): string {
  return commandPattern(rule).certainty(command.split(' ').map((word) => (word === '$X' ? null : word)));
}

describe('a rule that holds back an option meets it', () => {
  test.each([
    ['git push --force *', 'git push --force'],
    ['git push --force *', 'git push origin main --force'],
    ['git push --force *', 'git push -q --force'],
    ['git push --force *', 'git push -f'],
    ['git push --force *', 'git push origin -qf'],
    ['git push --force *', 'git -C . push origin --force=x'],
    ['git push -f *', 'git push origin main --force'],
    ['git push --force', 'git push -q --force'],
    ['git push --force origin', 'git push origin --force'],
    ['git commit --no-verify *', 'git commit -am x -n'],
    ['rm -rf *', 'rm -r -f x'],
    ['rm -rf *', 'rm -fr x'],
    ['rm -rf *', 'rm x -Rfv'],
    ['rm -rf *', 'rm --recursive --force x'],
    ['rm -rf *', 'rm -rf x'],
    ['rm -r -f *', 'rm -rf x'],
    ['curl -X POST *', 'curl -s -X POST http://x'],
    ['curl -X POST *', 'curl http://x -XPOST'],
    ['curl -X POST *', 'curl http://x --request=POST'],
    ['npm install -g *', 'npm i x --global'],
    ['npm publish *', '/opt/bin/npm publish'],
    ['npm uninstall *', 'npm rm x'],
    ['docker run *', 'docker container run x'],
    ['docker container run *', 'docker run x'],
    ['docker run --privileged *', 'docker run -it --rm --privileged x'],
    ['terraform apply -auto-approve *', 'terraform apply --auto-approve=true'],
    ['find * -delete', 'find . -delete'],
    ['kubectl -n prod delete *', 'kubectl delete pod x --namespace=prod'],
  ])('%s: %s', (rule, command) => {
    expect(caught(rule, command)).toBe('yes');
  });
});

describe('what may be it is asked about', () => {
  test.each([
    ['git push --force *', 'git push --forc'],
    ['git push --force *', 'git push $X'],
    ['git push *', 'git --config-env=alias.p=X p'],
    ['git push *', 'git -c alias.p=push p'],
    ['npm publish *', 'npm publ'],
    ['deploy --production *', 'deploy -p'],
    ['deploy -p *', 'deploy --production'],
    ['docker rm *', 'docker image rm x'],
  ])('%s: %s', (rule, command) => {
    expect(caught(rule, command)).toBe('maybe');
  });
});

describe('what it is not about goes on', () => {
  test.each([
    ['git push --force *', 'git push origin main'],
    ['git push --force *', 'git push --follow-tags'],
    ['git push -f *', 'git push --follow-tags'],
    ['git push --force *', 'git fetch --force'],
    ['git push --force *', 'git push origin -- --force'],
    ['git push --force', 'git push --force origin'],
    ['git push', 'git push -q'],
    ['rm -rf *', 'rm -r x'],
    ['rm -rf *', 'rm -f x'],
    ['curl -X POST *', 'curl -X GET http://x'],
    ['npm publish *', 'npm pack'],
    ['npm publish *', 'npm run publish'],
    ['docker run *', 'docker container ls'],
    ['terraform apply -auto-approve *', 'terraform apply -parallelism=1'],
    ['find . -delete', 'find . -depth -type l -newer e'],
  ])('%s: %s', (rule, command) => {
    expect(caught(rule, command)).toBe('no');
  });
});

describe('a subcommand that git does not have may be an alias for what a rule holds back', () => {
  test.each([
    'git p',
    'git -c include.path=ali p',
    'git -C sub --no-pager pus',
    'git --config-env include.path=X p origin',
  ])('%s', (command) => {
    expect(caught('git push *', command)).toBe('maybe');
  });

  test.each(['git status', 'git -c include.path=ali status', 'git log p', 'git --version', 'git lfs pull'])(
    'but %s is not',
    (command) => {
      expect(caught('git push *', command)).toBe('no');
    },
  );
});
