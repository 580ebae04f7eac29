import type { Page } from '@playwright/test';
import { ROOT } from '../../harness/accounts';
import { open } from '../../harness/pages';
import type { Visit } from '../../harness/test';
import { visible } from '../../harness/visibility';
import { answer, LONG_NAME, replaceNames } from './answers';
import type { DialogWalk } from './DialogWalk';

const USERNAME = LONG_NAME.toLowerCase();
const APPLICANT = `${USERNAME.slice(0, -1)}2`;
const SECRET = 'Wm5'.repeat(20);

async function visitAsRoot(walk: DialogWalk, visit: Visit): Promise<Page> {
  const { texts: _, ...look } = walk.look;
  const expected = [/^409 POST \/api\/admin\/users\/\d+\/quota$/, /^404 POST \/api\/admin\/users\/bulk$/];
  const page = await visit({ as: ROOT, expected, ...look });
  await replaceNames(page, { ben: USERNAME, cleo: APPLICANT, 'llm-gateway': LONG_NAME });
  return page;
}

/** The dialogs about users. */
export async function walkUserDialogs(walk: DialogWalk, visit: Visit) {
  const { adminUsers, common } = walk.look.texts;
  const { createDialog, handOver, menu, password } = adminUsers;
  const page = await visitAsRoot(walk, visit);
  const done = { button: common.secret.done };

  await open(page, '/admin/users');
  await page.getByRole('button', { name: adminUsers.create }).click();
  const form = page.getByRole('dialog', { name: createDialog.title });
  await form.getByRole('button', { name: createDialog.submit }).click();
  const create = 'pages/admin/users/CreateUserDialog.tsx';
  await walk.dialog(page, create, createDialog.title);
  await answer(page, 'POST', '**/api/admin/users', { id: 999_999, username: USERNAME });
  await page.getByRole('button', { name: adminUsers.create }).click();
  await form.getByLabel(adminUsers.fields.username).fill(USERNAME);
  await form.getByRole('button', { name: password.generate }).click();
  await form.getByRole('button', { name: createDialog.submit }).click();
  await walk.dialog(page, create, handOver.title(USERNAME), done);

  await walkBulkDialog(walk, page);
  await walk.menu(page, 'pages/admin/users/UserMenu.tsx', menu.label(USERNAME));
  const choose = async (item: string) => {
    if (!(await page.getByRole('menu').isVisible()))
      await page.getByRole('button', { name: menu.label(USERNAME) }).click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
  };
  await choose(menu.edit);
  await walk.dialog(page, 'pages/admin/users/EditUserDialog.tsx', adminUsers.editDialog.title(USERNAME));
  await choose(menu.wallet);
  const wallet = page.getByRole('dialog', { name: adminUsers.walletDialog.title(USERNAME) });
  await wallet.getByLabel(adminUsers.walletDialog.amount).fill('1234567.123456');
  await walk.check(wallet, 'pages/admin/users/WalletDialog.tsx', adminUsers.walletDialog.title(USERNAME));
  await wallet.getByRole('button', { name: common.cancel }).click();
  await page.getByRole('button', { name: common.discard.discard, exact: true }).click();
  await choose(menu.disable);
  await walk.dialog(
    page,
    'pages/admin/users/DisableUserDialog.tsx',
    adminUsers.disableDialog.title(USERNAME),
  );
  await choose(menu.delete);
  await walk.dialog(page, 'pages/admin/users/DeleteUserDialog.tsx', adminUsers.deleteDialog.title(USERNAME));
  await choose(menu.password);
  const set = page.getByRole('dialog', { name: adminUsers.passwordDialog.title(USERNAME) });
  await set.getByRole('button', { name: adminUsers.passwordDialog.submit }).click();
  const passwordDialog = 'pages/admin/users/PasswordDialog.tsx';
  await walk.dialog(page, passwordDialog, adminUsers.passwordDialog.title(USERNAME));
  await page.route('**/api/admin/users/*', async (route) => {
    if (route.request().method() !== 'PATCH') return route.fallback();
    await route.fulfill({ response: await route.fetch({ method: 'GET', postData: undefined }) });
  });
  await choose(menu.password);
  await set.getByRole('button', { name: password.generate }).click();
  await set.getByRole('button', { name: adminUsers.passwordDialog.submit }).click();
  await walk.dialog(page, passwordDialog, handOver.title(USERNAME), done);
}

/** The dialog that changes many users: its form, what is wrong with users, and its preview. */
async function walkBulkDialog(walk: DialogWalk, page: Page) {
  const { adminBulk, common } = walk.look.texts;
  const bulk = 'pages/admin/users/bulk/BulkUsersDialog.tsx';
  await page.getByRole('button', { name: adminBulk.open, exact: true }).click();
  const dialog = page.getByRole('dialog', { name: adminBulk.title });
  await dialog.getByRole('textbox', { name: adminBulk.names }).fill(`${USERNAME} ${APPLICANT}`);
  await dialog.getByRole('textbox', { name: adminBulk.amount }).fill('25');
  await dialog.getByRole('button', { name: adminBulk.preview }).click();
  // Nobody in the demo has such a name.
  await visible(dialog.getByRole('alert'));
  await walk.check(dialog, bulk, adminBulk.title);
  const state = {
    quota: 617_283_561_728,
    period_limits: { day: -1, week: -1, month: -1 },
    group: 'default',
    status: 1,
  };
  const user = (id: number, username: string) => ({
    id,
    username,
    before: { ...state, quota: 0 },
    after: state,
  });
  const users = [user(999_998, USERNAME), user(999_999, APPLICANT)];
  await answer(page, 'POST', '**/api/admin/users/bulk', { dry_run: true, users, undo: null });
  await dialog.getByRole('button', { name: adminBulk.preview }).click();
  await visible(dialog.getByRole('button', { name: adminBulk.back }));
  await walk.check(dialog, bulk, adminBulk.columns.after);
  await dialog.getByRole('button', { name: common.close, exact: true }).click();
  await page.getByRole('button', { name: common.discard.discard, exact: true }).click();
}

/** The dialogs about the key of somebody else. */
async function walkOthersKey(walk: DialogWalk, page: Page) {
  const { adminKey, keys } = walk.look.texts;
  const listed = await page.request.get('/api/admin/tokens');
  const { items }: { items: { id: number; name: string; username: string }[] } = (await listed.json()).data;
  const { id = 0, name = '' } = items.find(({ username }) => username !== ROOT.username) ?? {};
  await open(page, `/admin/tokens/${id}`);
  const component = 'pages/admin/token/OthersKeyActions.tsx';
  await walk.menu(page, component, keys.menu.label(name));
  await page.getByRole('menuitem', { name: keys.menu.replaceKey, exact: true }).click();
  await walk.dialog(page, 'pages/keys/actions/GraceDialog.tsx', keys.replace.title(name));
  await page.getByRole('button', { name: keys.menu.label(name) }).click();
  await page.getByRole('menuitem', { name: keys.menu.delete, exact: true }).click();
  await walk.dialog(page, component, adminKey.delete.title(name));
}

/** The dialogs about requests, gateways, the audit log and prices. */
export async function walkAdministrationDialogs(walk: DialogWalk, visit: Visit) {
  const { adminRequests, adminGateways, adminAudit, prices, common } = walk.look.texts;
  const page = await visitAsRoot(walk, visit);
  const done = { button: common.secret.done };

  await open(page, '/admin/requests');
  const decision = 'pages/admin/requests/DecisionDialog.tsx';
  const approve = page.getByRole('button', { name: adminRequests.approve, exact: true });
  await approve.first().click();
  await walk.dialog(page, decision, adminRequests.dialog.approveTitle(APPLICANT));
  await page.getByRole('button', { name: adminRequests.refuse, exact: true }).first().click();
  await walk.dialog(page, decision, adminRequests.dialog.refuseTitle(APPLICANT));
  // The approval seems to work, but nothing is added to the wallet.
  await answer(page, 'POST', '**/api/admin/token_api_requests/*', undefined);
  const refusal = { success: false, message: 'the wallet is full', error: 'unknown' };
  await answer(page, 'POST', '**/api/admin/users/*/quota', refusal, 409);
  await approve.first().click();
  await page.getByLabel(adminRequests.dialog.amount).fill('10');
  await page.getByRole('button', { name: adminRequests.dialog.approveAndTopUp }).click();
  await walk.dialog(page, decision, adminRequests.dialog.approvedTitle(APPLICANT));

  await open(page, '/admin/gateways');
  const { credential, dialog, removeDialog } = adminGateways;
  const createGateway = 'pages/admin/gateways/CreateGatewayDialog.tsx';
  const form = page.getByRole('dialog', { name: dialog.title });
  await page.getByRole('button', { name: adminGateways.create }).click();
  await form.getByRole('button', { name: dialog.submit }).click();
  await walk.dialog(page, createGateway, dialog.title);
  const gateway = { id: 999_999, name: LONG_NAME, created_time: 1, credential: SECRET, credentials: [] };
  await answer(page, 'POST', '**/api/admin/gateways', gateway);
  await page.getByRole('button', { name: adminGateways.create }).click();
  await form.getByLabel(dialog.name).fill(LONG_NAME);
  await form.getByRole('button', { name: dialog.submit }).click();
  await walk.dialog(page, createGateway, dialog.secretTitle(LONG_NAME), done);

  const newCredential = { id: 999_999, hint: 'Wm5W', created_time: 1, credential: SECRET };
  await answer(page, 'POST', '**/api/admin/gateways/*/credentials', newCredential);
  await page.getByRole('button', { name: credential.createLabel(LONG_NAME) }).click();
  const secretTitle = credential.secretTitle(LONG_NAME);
  await walk.dialog(page, 'pages/admin/gateways/NewCredentialDialog.tsx', secretTitle, done);
  await page
    .getByRole('button', { name: credential.revokeLabel('', LONG_NAME).trim().split(' ').at(-1) })
    .first()
    .click();
  const revokeCredential = 'pages/admin/gateways/RevokeCredentialDialog.tsx';
  // Up to the hint, which is another one in each run.
  const [revokeTitle = ''] = credential.revokeTitle('HINT', LONG_NAME).split('HINT');
  await walk.dialog(page, revokeCredential, revokeTitle.trim());
  await page.getByRole('button', { name: adminGateways.removeLabel(LONG_NAME), exact: true }).click();
  await walk.dialog(page, 'pages/admin/gateways/RemoveGatewayDialog.tsx', removeDialog.title(LONG_NAME));

  await walkOthersKey(walk, page);

  await open(page, '/admin/audit');
  await page
    .getByRole('button', { name: adminAudit.showDetails('') })
    .first()
    .click();
  const details = page.getByRole('dialog');
  await visible(details);
  await walk.check(details, 'pages/admin/audit/AuditDetails.tsx', adminAudit.title);

  await open(page, '/prices');
  await page.getByRole('button', { name: prices.editor.open, exact: true }).click();
  await walk.dialog(page, 'pages/prices/versions/PriceEditor.tsx', prices.editor.title);
  await page.getByRole('button', { name: prices.history.setAgainLabel('1'), exact: true }).click();
  await walk.dialog(page, 'pages/prices/versions/SetAgainDialog.tsx', prices.setAgain.title('1'));
}
