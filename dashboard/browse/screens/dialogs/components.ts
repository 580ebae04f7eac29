import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(import.meta.dirname, '../../../src');

/** The files with dialogs and menus by the test that opens them, and how many each has. A test compares this with the source. */
export const DIALOGS = {
  'about keys': {
    'pages/key/old-keys/EndOldKeyDialog.tsx': 1,
    'pages/keys/actions/AddQuotaDialog.tsx': 1,
    'pages/keys/actions/DeleteKeysDialog.tsx': 1,
    'pages/keys/actions/DisableKeysDialog.tsx': 1,
    'pages/keys/actions/GraceDialog.tsx': 1,
    'pages/keys/actions/KeyMenu.tsx': 1,
    'pages/keys/actions/NewKeyDialog.tsx': 1,
    'pages/keys/actions/RevealedKeyDialog.tsx': 1,
    'pages/keys/form/KeyFormDrawer.tsx': 1,
    'pages/keys/form/conflict/ConflictDialog.tsx': 1,
    'pages/keys/SelectionBar.tsx': 0,
    'pages/keys/many/ChangeKeysDialog.tsx': 1,
    'pages/keys/many/ReplaceKeysDialog.tsx': 1,
    'pages/requests/details/RequestDrawer.tsx': 1,
    'pages/requests/filters/FilterChip.tsx': 1,
    'shared/CopyDialog.tsx': 1,
    'shared/form/discard.tsx': 1,
    'shared/usage/ExportMenu.tsx': 1,
  },
  'about the own account': {
    'pages/profile/access-tokens/CreateAccessTokenDialog.tsx': 2,
    'pages/profile/access-tokens/RevokeAccessTokenDialog.tsx': 1,
    'pages/profile/sessions/SessionsSection.tsx': 2,
    'pages/reference/TryIt.tsx': 1,
    'shell/AccountMenu.tsx': 1,
    'shell/AppLayout.tsx': 1,
    'shell/ColorSchemeMenu.tsx': 1,
    'shell/LanguageMenu.tsx': 1,
    'shell/SignInAgainDialog.tsx': 1,
    'shell/commands/Palette.tsx': 1,
    'shell/commands/ShortcutsHelp.tsx': 1,
  },
  'about users': {
    'pages/admin/users/CreateUserDialog.tsx': 2,
    'pages/admin/users/DeleteUserDialog.tsx': 1,
    'pages/admin/users/DisableUserDialog.tsx': 1,
    'pages/admin/users/EditUserDialog.tsx': 1,
    'pages/admin/users/PasswordDialog.tsx': 2,
    'pages/admin/users/UserMenu.tsx': 1,
    'pages/admin/users/WalletDialog.tsx': 1,
    'pages/admin/users/bulk/BulkUsersDialog.tsx': 1,
  },
  'of administrators': {
    'pages/admin/token/OthersKeyActions.tsx': 2,
    'pages/admin/audit/AuditDetails.tsx': 1,
    'pages/admin/gateways/CreateGatewayDialog.tsx': 2,
    'pages/admin/gateways/NewCredentialDialog.tsx': 1,
    'pages/admin/gateways/RevokeCredentialDialog.tsx': 1,
    'pages/admin/gateways/RemoveGatewayDialog.tsx': 1,
    'pages/admin/requests/DecisionDialog.tsx': 1,
    'pages/prices/versions/PriceEditor.tsx': 1,
    'pages/prices/versions/SetAgainDialog.tsx': 1,
  },
};

type Part = keyof typeof DIALOGS;
export type DialogComponent = { [About in Part]: keyof (typeof DIALOGS)[About] }[Part];

/** `ConfirmDialog` and `SecretDialog` are dialogs of the components that use them, and `SecretFormDialog` is two. */
const ELEMENT =
  /<(?:Modal|FormModal|Drawer|Menu|Popover|HoverCard|ConfirmDialog|SecretDialog|SecretFormDialog|AppShell\.Navbar)(?![.\w])/g;
const SECOND = /<SecretFormDialog(?![.\w])/g;
const SHARED = [
  'shared/ConfirmDialog.tsx',
  'shared/SecretDialog.tsx',
  'shared/form/FormModal.tsx',
  'shared/form/SecretFormDialog.tsx',
];

/** The files of the source with dialogs and menus, and how many each has. */
export function dialogsInSource(): Record<string, number> {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test)\.tsx$/.test(file) && !SHARED.includes(file))
    .map((file) => {
      const text = readFileSync(join(SOURCE, file), 'utf8');
      return [file, [...text.matchAll(ELEMENT), ...text.matchAll(SECOND)].length] as const;
    });
  return Object.fromEntries(files.filter(([, count]) => count > 0));
}
