// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";
import {Delegations} from "./Delegations.sol";
import {IStreamRegistry} from "./IStreamRegistry.sol";

/// @title Streams, and who may do what with them
contract StreamRegistry is IStreamRegistry, Delegations {
    using EnumerableSet for EnumerableSet.Bytes32Set;

    /// @notice Longest path of a stream id, in bytes.
    uint256 public constant MAX_PATH_BYTES = 200;
    /// @notice Longest metadata, in bytes.
    uint256 public constant MAX_METADATA_BYTES = 4096;
    /// @notice Most partitions of a stream.
    uint256 public constant MAX_PARTITIONS = 100;
    /// @notice Most trackers a stream may have of its own.
    uint256 public constant MAX_TRACKERS = 16;
    /// @notice The expiry of a permission that never ends.
    uint64 public constant FOREVER = type(uint64).max;

    /// @dev Stands for everybody in the permission table. It can sign no transaction, so it is no user's address.
    address private constant EVERYBODY = address(0);
    /// @dev `0x` and 40 hexadecimal digits.
    uint256 private constant ADDRESS_CHARACTERS = 42;

    EnumerableSet.Bytes32Set private _keys;
    mapping(bytes32 streamKey => Stream) private _streams;
    /// @dev Outlives the stream: the next stream of the same id starts from an empty permission table.
    mapping(bytes32 streamKey => uint64) private _generations;
    mapping(bytes32 streamKey => mapping(uint64 generation => mapping(address user => Permissions))) private _permissions;

    /// @inheritdoc IStreamRegistry
    function createStream(
        string calldata path,
        string calldata metadata,
        uint8 partitions,
        address[] calldata trackers
    ) external returns (string memory streamId) {
        if (!_isPath(bytes(path))) revert StreamRegistry__InvalidPath(path);
        streamId = string.concat(Strings.toHexString(msg.sender), "/", path);
        bytes32 key = _keyOf(streamId);
        if (!_keys.add(key)) revert StreamRegistry__AlreadyExists(streamId);
        Stream storage stream = _streams[key];
        stream.streamId = streamId;
        stream.generation = _generations[key];
        stream.createdAt = uint64(block.timestamp);
        _storeSettings(stream, metadata, partitions);
        emit StreamCreated(key, msg.sender, streamId, metadata, partitions);
        if (trackers.length > 0) _storeTrackers(key, trackers);
        _setPermissions(key, msg.sender, Permissions(true, true, true, FOREVER, FOREVER));
    }

    /// @inheritdoc IStreamRegistry
    function updateStream(string calldata streamId, string calldata metadata, uint8 partitions) external {
        bytes32 key = _requirePermission(streamId, Permission.Edit);
        _storeSettings(_streams[key], metadata, partitions);
        emit StreamUpdated(key, streamId, metadata, partitions);
    }

    /// @inheritdoc IStreamRegistry
    function setTrackers(string calldata streamId, address[] calldata trackers) external {
        _storeTrackers(_requirePermission(streamId, Permission.Edit), trackers);
    }

    /// @inheritdoc IStreamRegistry
    function deleteStream(string calldata streamId) external {
        bytes32 key = _requirePermission(streamId, Permission.Delete);
        _keys.remove(key);
        delete _streams[key];
        _generations[key]++;
        emit StreamDeleted(key, streamId);
    }

    /// @inheritdoc IStreamRegistry
    function grantPermission(string calldata streamId, address user, Permission permission, uint64 expiry) external {
        bytes32 key = _requirePermission(streamId, Permission.Grant);
        bool canExpire = permission == Permission.Publish || permission == Permission.Subscribe;
        if (!canExpire && expiry != FOREVER) revert StreamRegistry__ExpiryNotSupported(permission, expiry);
        if (expiry <= block.timestamp) revert StreamRegistry__ExpiryInPast(expiry, block.timestamp);
        _setUserPermissions(key, user, _with(_table(key)[user], permission, expiry));
    }

    /// @inheritdoc IStreamRegistry
    function revokePermission(string calldata streamId, address user, Permission permission) external {
        bytes32 key = _requirePermission(streamId, Permission.Grant);
        _setUserPermissions(key, user, _with(_table(key)[user], permission, 0));
    }

    /// @inheritdoc IStreamRegistry
    function setPermissions(string calldata streamId, UserPermissions[] calldata users) external {
        bytes32 key = _requirePermission(streamId, Permission.Grant);
        for (uint256 i = 0; i < users.length; i++) _setUserPermissions(key, users[i].user, users[i].permissions);
    }

    /// @inheritdoc IStreamRegistry
    function setPublicPermissions(string calldata streamId, uint64 publishExpiry, uint64 subscribeExpiry) external {
        bytes32 key = _requirePermission(streamId, Permission.Grant);
        _table(key)[EVERYBODY] = Permissions(false, false, false, publishExpiry, subscribeExpiry);
        emit PublicPermissionsChanged(key, streamId, publishExpiry, subscribeExpiry);
    }

    /// @inheritdoc IStreamRegistry
    function getStream(string calldata streamId) external view returns (Stream memory) {
        bytes32 key = _keyOf(streamId);
        if (!_keys.contains(key)) revert StreamRegistry__NotFound(streamId);
        return _streams[key];
    }

    /// @inheritdoc IStreamRegistry
    function exists(string calldata streamId) external view returns (bool) {
        return _keys.contains(_keyOf(streamId));
    }

    /// @inheritdoc IStreamRegistry
    function streamCount() external view returns (uint256) {
        return _keys.length();
    }

    /// @inheritdoc IStreamRegistry
    function listStreams(uint256 offset, uint256 limit) external view returns (Stream[] memory page) {
        bytes32[] memory keys = _keys.values(offset, Math.saturatingAdd(offset, limit));
        page = new Stream[](keys.length);
        for (uint256 i = 0; i < keys.length; i++) page[i] = _streams[keys[i]];
    }

    /// @inheritdoc IStreamRegistry
    function hasPermission(string calldata streamId, address user, Permission permission) external view returns (bool) {
        return _allows(_effective(_keyOf(streamId), user), permission);
    }

    /// @inheritdoc IStreamRegistry
    function directPermissions(string calldata streamId, address user) external view returns (Permissions memory) {
        return _table(_keyOf(streamId))[user];
    }

    /// @inheritdoc IStreamRegistry
    function publicPermissions(string calldata streamId) external view returns (Permissions memory) {
        return _table(_keyOf(streamId))[EVERYBODY];
    }

    /// @inheritdoc IStreamRegistry
    function effectivePermissions(string calldata streamId, address user) external view returns (Permissions memory) {
        return _effective(_keyOf(streamId), user);
    }

    /// @inheritdoc IStreamRegistry
    function generationOf(bytes32 streamKey) external view returns (uint64) {
        return _generations[streamKey];
    }

    /// @inheritdoc IStreamRegistry
    function streamIdOf(bytes32 streamKey) external view returns (string memory) {
        return _streams[streamKey].streamId;
    }

    function _storeSettings(Stream storage stream, string calldata metadata, uint8 partitions) private {
        uint256 metadataBytes = bytes(metadata).length;
        if (partitions == 0 || partitions > MAX_PARTITIONS) {
            revert StreamRegistry__InvalidPartitions(partitions, MAX_PARTITIONS);
        }
        if (metadataBytes > MAX_METADATA_BYTES) revert StreamRegistry__MetadataTooLong(metadataBytes, MAX_METADATA_BYTES);
        stream.metadata = metadata;
        stream.partitions = partitions;
    }

    function _storeTrackers(bytes32 key, address[] calldata trackers) private {
        if (trackers.length > MAX_TRACKERS) revert StreamRegistry__TooManyTrackers(trackers.length, MAX_TRACKERS);
        for (uint256 i = 0; i < trackers.length; i++) {
            if (trackers[i] == address(0)) revert StreamRegistry__InvalidTracker(trackers[i]);
            for (uint256 j = 0; j < i; j++) {
                if (trackers[j] == trackers[i]) revert StreamRegistry__DuplicateTracker(trackers[i]);
            }
        }
        _streams[key].trackers = trackers;
        emit StreamTrackersChanged(key, _streams[key].streamId, trackers);
    }

    function _setUserPermissions(bytes32 key, address user, Permissions memory permissions) private {
        if (user == EVERYBODY) revert StreamRegistry__InvalidUser(user);
        if (user != msg.sender && user == _ownerOf(key) && _takes(_table(key)[user], permissions)) {
            revert StreamRegistry__OwnerProtected(key, user);
        }
        _setPermissions(key, user, permissions);
    }

    function _setPermissions(bytes32 key, address user, Permissions memory permissions) private {
        _table(key)[user] = permissions;
        emit PermissionsChanged(key, user, _streams[key].streamId, permissions);
    }

    /// @dev The address that the id of the stream begins with.
    function _ownerOf(bytes32 key) private view returns (address owner) {
        (, owner) = Strings.tryParseAddress(_streams[key].streamId, 0, ADDRESS_CHARACTERS);
    }

    /// @dev Whether `afterwards` lacks or shortens a permission of `before`.
    function _takes(Permissions memory before, Permissions memory afterwards) private pure returns (bool) {
        return (before.canEdit && !afterwards.canEdit) || (before.canDelete && !afterwards.canDelete)
            || (before.canGrant && !afterwards.canGrant) || afterwards.publishExpiry < before.publishExpiry
            || afterwards.subscribeExpiry < before.subscribeExpiry;
    }

    /// @dev The key of a stream that exists and on which the caller has the permission.
    function _requirePermission(string calldata streamId, Permission permission) private view returns (bytes32 key) {
        key = _keyOf(streamId);
        if (!_keys.contains(key)) revert StreamRegistry__NotFound(streamId);
        if (!_allows(_effective(key, msg.sender), permission)) {
            revert StreamRegistry__NotPermitted(key, msg.sender, permission);
        }
    }

    function _table(bytes32 key) private view returns (mapping(address user => Permissions) storage) {
        return _permissions[key][_generations[key]];
    }

    function _effective(bytes32 key, address user) private view returns (Permissions memory permissions) {
        Permissions memory everybody = _table(key)[EVERYBODY];
        permissions = _table(key)[user];
        if (everybody.publishExpiry > permissions.publishExpiry) permissions.publishExpiry = everybody.publishExpiry;
        if (everybody.subscribeExpiry > permissions.subscribeExpiry) {
            permissions.subscribeExpiry = everybody.subscribeExpiry;
        }
    }

    function _allows(Permissions memory permissions, Permission permission) private view returns (bool) {
        if (permission == Permission.Edit) return permissions.canEdit;
        if (permission == Permission.Delete) return permissions.canDelete;
        if (permission == Permission.Grant) return permissions.canGrant;
        if (permission == Permission.Publish) return block.timestamp < permissions.publishExpiry;
        return block.timestamp < permissions.subscribeExpiry;
    }

    /// @dev `permissions` with one of them granted until `expiry`, or revoked by an expiry of 0.
    function _with(
        Permissions memory permissions,
        Permission permission,
        uint64 expiry
    ) private pure returns (Permissions memory) {
        if (permission == Permission.Edit) permissions.canEdit = expiry > 0;
        else if (permission == Permission.Delete) permissions.canDelete = expiry > 0;
        else if (permission == Permission.Grant) permissions.canGrant = expiry > 0;
        else if (permission == Permission.Publish) permissions.publishExpiry = expiry;
        else permissions.subscribeExpiry = expiry;
        return permissions;
    }

    function _keyOf(string memory streamId) private pure returns (bytes32) {
        return keccak256(bytes(streamId));
    }

    /// @dev Segments of allowed characters with a single slash between them.
    function _isPath(bytes calldata path) private pure returns (bool) {
        if (path.length > MAX_PATH_BYTES) return false;
        bool inSegment = false;
        for (uint256 i = 0; i < path.length; i++) {
            bool isSlash = path[i] == "/";
            if (isSlash ? !inSegment : !_isSegmentCharacter(path[i])) return false;
            inSegment = !isSlash;
        }
        return inSegment;
    }

    function _isSegmentCharacter(bytes1 char) private pure returns (bool) {
        return (char >= "a" && char <= "z") || (char >= "A" && char <= "Z") || (char >= "0" && char <= "9")
            || char == "." || char == "_" || char == "-";
    }
}
