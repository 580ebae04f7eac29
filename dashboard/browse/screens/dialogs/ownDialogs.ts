import type { Page } from '@playwright/test';
import { ANA, BEN, open } from '../../harness/pages';
import type { Visit } from '../../harness/test';
import { hidden, visible } from '../../harness/visibility';
import { answer, LONG_NAME, replaceNames } from './answers';
import type { DialogWalk } from './DialogWalk';

/** The dialogs about keys. */
export async function walkKeyDialogs(walk: DialogWalk, visit: Visit) {
  const { texts, ...look } = walk.look;
  const { keys, common } = texts;
  const page = await visit({ as: ANA, ...look, expected: [/^412 PUT /] });
  await replaceNames(page, { Prototype: LONG_NAME });

  await open(page, '/keys');
  await page.getByRole('button', { name: keys.create }).click();
  const form = page.getByRole('dialog', { name: keys.form.createTitle });
  await form.getByLabel(keys.fields.model_limits_enabled.label).check();
  await form.getByRole('button', { name: keys.form.create }).click();
  await walk.check(form, 'pages/keys/form/KeyFormDrawer.tsx', keys.form.createTitle);
  await form.getByRole('button', { name: common.cancel }).click();
  const { title, discard } = common.discard;
  await walk.dialog(page, 'shared/form/discard.tsx', title, { button: discard });

  const menu = keys.menu.label(LONG_NAME);
  await walk.menu(page, 'pages/keys/actions/KeyMenu.tsx', menu);
  const choose = (item: string) => page.getByRole('menuitem', { name: item, exact: true }).click();
  await choose(keys.menu.edit);
  await walk.dialog(page, 'pages/keys/form/KeyFormDrawer.tsx', keys.form.editTitle(LONG_NAME));
  await walkConflict(walk, page, LONG_NAME);
  await page.getByRole('button', { name: menu }).click();
  await choose(keys.menu.delete);
  await walk.dialog(page, 'pages/keys/actions/DeleteKeysDialog.tsx', keys.delete.title(1));
  await page.getByRole('button', { name: menu }).click();
  await choose(keys.menu.revealKey);
  await walk.dialog(page, 'pages/keys/actions/RevealedKeyDialog.tsx', keys.revealed.title(LONG_NAME));
  await page.evaluate(() =>
    Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }),
  );
  await page.getByRole('button', { name: menu }).click();
  await choose(keys.menu.copyKey);
  await walk.dialog(page, 'shared/CopyDialog.tsx', common.copyDialog.title);
  await page.evaluate(() => Reflect.deleteProperty(navigator, 'clipboard'));
  await walkRotation(walk, page, LONG_NAME);

  await page.getByRole('checkbox', { name: keys.select.page }).check();
  const bar = page.getByRole('region', { name: keys.selection.label });
  await walk.check(bar, 'pages/keys/SelectionBar.tsx', keys.selection.label);
  const count = Number(/\d+/.exec(await bar.innerText())?.[0]);
  await bar.getByRole('button', { name: keys.selection.addQuota }).click();
  await walk.dialog(page, 'pages/keys/actions/AddQuotaDialog.tsx', keys.addQuota.confirm);
  await bar.getByRole('button', { name: keys.selection.disable }).click();
  await walk.dialog(page, 'pages/keys/actions/DisableKeysDialog.tsx', keys.disable.title(count));
  await bar.getByRole('button', { name: keys.selection.delete }).click();
  await walk.dialog(page, 'pages/keys/actions/DeleteKeysDialog.tsx', keys.delete.title(count));
  await walkMany(walk, page, count);

  await walkRequests(walk, page);
  const own = await visit({ as: BEN, ...look });
  await open(own, '/keys?create');
  const created = own.getByRole('dialog', { name: keys.form.createTitle });
  await created.getByLabel(keys.fields.name.label).fill('Example');
  await created.getByRole('textbox', { name: keys.form.total, exact: true }).fill('1');
  await created.getByRole('button', { name: keys.form.create }).click();
  await visible(own.getByRole('dialog', { name: keys.created.title }).getByRole('tab', { name: 'curl' }));
  const done = { button: common.secret.done };
  await walk.dialog(own, 'pages/keys/actions/NewKeyDialog.tsx', keys.created.title, done);
}

/** The dialogs that change and replace the selected keys. The server is not asked, so that the demo keeps its keys. */
async function walkMany(walk: DialogWalk, page: Page, count: number) {
  const { common, keys } = walk.look.texts;
  const bar = page.getByRole('region', { name: keys.selection.label });
  const press = (name: string) => bar.getByRole('button', { name, exact: true }).click();
  await press(keys.selection.change);
  await walk.dialog(page, 'pages/keys/many/ChangeKeysDialog.tsx', keys.many.titles.change(count));

  const rotated = [{ id: 1, key: `sk-${'Wm5'.repeat(16)}`, masked_key: '', old_keys: [] }];
  await answer(page, 'POST', '**/api/token/bulk/rotate', rotated);
  const { confirm, newKeys, save, title } = keys.replaceMany;
  await press(keys.selection.replace);
  await page
    .getByRole('dialog', { name: title(count) })
    .getByRole('button', { name: confirm.later })
    .click();
  await page.getByRole('dialog', { name: newKeys }).getByRole('button', { name: save }).click();
  const done = { button: common.secret.done };
  await walk.dialog(page, 'pages/keys/many/ReplaceKeysDialog.tsx', newKeys, done);
}

/** The choices of a filter of requests, the details of one, and the menu of reports. */
async function walkRequests(walk: DialogWalk, page: Page) {
  const { common, key, requests, usage } = walk.look.texts;
  await open(page, '/requests?range=30d');
  const time = common.labelled(requests.filters.time, key.usage.ranges['30d']);
  await page.getByRole('button', { name: time }).click();
  await walk.check(page.getByRole('dialog', { name: time }), 'pages/requests/filters/FilterChip.tsx', time);
  await page.keyboard.press('Escape');
  const table = page.getByRole('table', { name: usage.requestHistory.title });
  await table.getByRole('link').first().click();
  await walk.dialog(page, 'pages/requests/details/RequestDrawer.tsx', requests.details.title);

  await open(page, '/usage');
  await walk.menu(page, 'shared/usage/ExportMenu.tsx', usage.csv.menu);
  await page.keyboard.press('Escape');
}

/** The dialog about a change by somebody else. The server is not asked. */
async function walkConflict(walk: DialogWalk, page: Page, name: string) {
  const { common, keys } = walk.look.texts;
  await page.getByRole('button', { name: keys.menu.label(name) }).click();
  await page.getByRole('menuitem', { name: keys.menu.edit, exact: true }).click();
  const form = page.getByRole('dialog', { name: keys.form.editTitle(name) });
  await visible(form);
  const changed = { success: false, message: 'the token was changed', error: 'token_changed' };
  await answer(page, 'PUT', '**/api/token/', changed, 412);
  await page.route('**/api/token/*/details', async (route) => {
    const { data } = await (await route.fetch()).json();
    const json = { success: true, message: '', data: { ...data, note: `${LONG_NAME} `.repeat(3) } };
    await route.fulfill({ json });
  });
  await form.getByLabel(keys.fields.name.label).fill('Example');
  await form.getByRole('button', { name: keys.form.save }).click();
  await walk.dialog(page, 'pages/keys/form/conflict/ConflictDialog.tsx', keys.form.conflict.title);
  await form.getByRole('button', { name: common.cancel }).click();
  await page.getByRole('button', { name: common.discard.discard }).click();
  await hidden(form);
  await page.unroute('**/api/token/*/details');
}

/** The dialogs that replace a key and end an old one. The server is not asked, so that the demo keeps its keys. */
async function walkRotation(walk: DialogWalk, page: Page, name: string) {
  const { common, key, keys } = walk.look.texts;
  const { choices, confirm, title } = keys.replace;
  const oldKey = { id: 1, masked_key: `sk-Wm5W${'*'.repeat(10)}Wm5W`, rotated_at: 1, expires_at: null };
  const newKey = `sk-${'Wm5'.repeat(16)}`;
  const rotated = { id: 1, key: newKey, masked_key: oldKey.masked_key, old_keys: [oldKey] };
  await answer(page, 'POST', '**/api/token/*/rotate', rotated);
  await answer(page, 'GET', '**/api/token/*/old_keys*', [oldKey]);

  const open = async () => {
    await page.getByRole('button', { name: keys.menu.label(name) }).click();
    await page.getByRole('menuitem', { name: keys.menu.replaceKey, exact: true }).click();
  };
  await open();
  await walk.dialog(page, 'pages/keys/actions/GraceDialog.tsx', title(name));
  await open();
  const dialog = page.getByRole('dialog', { name: title(name) });
  await dialog.getByLabel(choices.leaked.label).check();
  await dialog.getByRole('button', { name: confirm.leaked }).click();
  const done = { button: common.secret.done };
  await walk.dialog(page, 'pages/keys/actions/NewKeyDialog.tsx', keys.created.title, done);

  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('button', { name: key.oldKeys.endOne(oldKey.masked_key) }).click();
  await walk.dialog(page, 'pages/key/old-keys/EndOldKeyDialog.tsx', key.oldKeys.endTitle);
  await page.goBack();
}

/** The dialogs about the own account, and those of the frame around all pages. */
export async function walkAccountDialogs(walk: DialogWalk, visit: Visit) {
  const { texts, ...look } = walk.look;
  const { commands, keys, profile, reference, shell, signIn, common } = texts;
  const { accessTokens, sessions } = profile;
  const page = await visit({ as: ANA, ...look, expected: [/^401 /] });
  await replaceNames(page, { 'Ana Silva': LONG_NAME, ana: LONG_NAME.toLowerCase(), Deployment: LONG_NAME });
  const token = { id: 1, name: LONG_NAME, created_time: 1, expires_at: -1, token: `kma_${'Wm5'.repeat(16)}` };
  await answer(page, 'POST', '**/api/user/access_tokens', token);
  const otherDevice = { id: 'other', ip: '2001:db8:1234:5678:9abc:def0:1234:5678', current: false };
  await page.route('**/api/user/sessions', async (route) => {
    const { data } = await (await route.fetch()).json();
    const others = data.map((session: object) => ({ ...session, ...otherDevice, user_agent: '' }));
    await route.fulfill({ json: { success: true, message: '', data: [data[0], others[0]] } });
  });

  await open(page, '/profile');
  await page.getByRole('button', { name: accessTokens.create }).click();
  const createToken = 'pages/profile/access-tokens/CreateAccessTokenDialog.tsx';
  await walk.dialog(page, createToken, accessTokens.createTitle);
  await page.getByRole('button', { name: accessTokens.create }).click();
  const form = page.getByRole('dialog', { name: accessTokens.createTitle });
  await form.getByLabel(accessTokens.name).fill(LONG_NAME);
  await form.getByRole('button', { name: accessTokens.create }).click();
  await walk.dialog(page, createToken, accessTokens.secretTitle, { button: common.secret.done });
  await page.getByRole('button', { name: accessTokens.revokeOne(LONG_NAME) }).click();
  const revokeToken = 'pages/profile/access-tokens/RevokeAccessTokenDialog.tsx';
  await walk.dialog(page, revokeToken, accessTokens.revokeTitle(LONG_NAME));

  const sessionsSection = 'pages/profile/sessions/SessionsSection.tsx';
  const device = sessions.unknownDevice;
  await page.getByRole('button', { name: sessions.endOne(device) }).click();
  await walk.dialog(page, sessionsSection, sessions.endTitle(device));
  await page.getByRole('button', { name: sessions.endOthers }).click();
  await walk.dialog(page, sessionsSection, sessions.endOthersTitle);

  await walk.menu(page, 'shell/AccountMenu.tsx', shell.account(LONG_NAME));
  await page.getByRole('menuitem', { name: commands.shortcuts.title }).click();
  await walk.dialog(page, 'shell/commands/ShortcutsHelp.tsx', commands.shortcuts.title);
  await walk.menu(page, 'shell/ColorSchemeMenu.tsx', shell.colorScheme.label);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: commands.search, exact: true }).click();
  await visible(page.getByRole('option', { name: keys.create }));
  await walk.dialog(page, 'shell/commands/Palette.tsx', commands.title);

  const navigation = page.getByRole('navigation', { name: shell.navigation });
  await walk.check(navigation, 'shell/AppLayout.tsx', shell.navigation, async () => {
    if (!(await navigation.isVisible()))
      await page.getByRole('button', { name: shell.openNavigation }).click();
    await visible(navigation);
  });

  await open(page, '/reference?operation=end_other_sessions');
  await page.getByRole('button', { name: reference.tryIt.send }).click();
  await walk.dialog(page, 'pages/reference/TryIt.tsx', reference.tryIt.confirmTitle);

  await open(page, '/keys');
  await page.context().clearCookies();
  await page.getByRole('switch').first().click();
  const again = page.getByRole('dialog', { name: signIn.again.title });
  await visible(again);
  await walk.check(again, 'shell/SignInAgainDialog.tsx', signIn.again.title);

  const nobody = await visit(look);
  await open(nobody, '/sign-in');
  await walk.menu(nobody, 'shell/LanguageMenu.tsx', shell.language.label);
}
