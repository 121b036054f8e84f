// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title Streams, and who may do what with them
/// @notice A stream id is `0xowner/path`, built by the contract from the creator's address in lower-case hexadecimal, so
/// nobody can take an id under another's address. The key of a stream is the keccak-256 hash of its id.
/// Expiries are unix seconds: a permission holds while the block's timestamp is below its expiry.
/// In the views on permissions the zero address stands for everybody.
/// The owner of a stream is the address its id begins with. A holder of Grant may give anybody any permission, themselves
/// included, and may revoke or shorten everybody's but the owner's, which only the owner can. A holder of
/// Delete may delete the stream; only its owner may create it again.
/// @dev The metadata is free text: a reader must treat it as hostile.
interface IStreamRegistry {
    /// @notice What a user may do with a stream. Only Publish and Subscribe expire, and only they can be public.
    enum Permission {
        Edit,
        Delete,
        Publish,
        Subscribe,
        Grant
    }

    /// @param canEdit may change metadata, partitions, trackers and storage
    /// @param canDelete may delete the stream
    /// @param canGrant may grant any permission to anybody, and take any from anybody but the owner
    /// @param publishExpiry may publish before this time; 0 is never, the largest value is forever
    /// @param subscribeExpiry may subscribe before this time; 0 is never, the largest value is forever
    struct Permissions {
        bool canEdit;
        bool canDelete;
        bool canGrant;
        uint64 publishExpiry;
        uint64 subscribeExpiry;
    }

    /// @param user whose permissions are set
    /// @param permissions what they become
    struct UserPermissions {
        address user;
        Permissions permissions;
    }

    /// @param streamId `0xowner/path`
    /// @param metadata free text, by convention JSON
    /// @param partitions how many partitions, 1 to 100
    /// @param trackers the trackers of this stream alone; empty for the deployment's
    /// @param generation how many streams of this id were deleted before this one
    /// @param createdAt when this one was created: unix seconds, of its block. Anything signed before belongs to an earlier
    /// stream of the same id
    struct Stream {
        string streamId;
        string metadata;
        uint8 partitions;
        address[] trackers;
        uint64 generation;
        uint64 createdAt;
    }

    /// @notice A stream was created.
    event StreamCreated(
        bytes32 indexed streamKey, address indexed owner, string streamId, string metadata, uint8 partitions
    );
    /// @notice Metadata and partition count of a stream were replaced.
    event StreamUpdated(bytes32 indexed streamKey, string streamId, string metadata, uint8 partitions);
    /// @notice The stream's own trackers were replaced.
    event StreamTrackersChanged(bytes32 indexed streamKey, string streamId, address[] trackers);
    /// @notice A stream was deleted, and with it every permission on it.
    event StreamDeleted(bytes32 indexed streamKey, string streamId);
    /// @notice The permissions of a user were replaced by these.
    event PermissionsChanged(
        bytes32 indexed streamKey, address indexed user, string streamId, Permissions permissions
    );
    /// @notice The public permissions were replaced by these.
    event PublicPermissionsChanged(
        bytes32 indexed streamKey, string streamId, uint64 publishExpiry, uint64 subscribeExpiry
    );

    /// @notice The path is not 1 to 200 of a-z A-Z 0-9 . _ - / or has a slash at either end or two in a row.
    error StreamRegistry__InvalidPath(string path);
    /// @notice A stream of this id exists.
    error StreamRegistry__AlreadyExists(string streamId);
    /// @notice No stream of this id exists.
    error StreamRegistry__NotFound(string streamId);
    /// @notice The caller does not have the permission the call needs.
    error StreamRegistry__NotPermitted(bytes32 streamKey, address user, Permission permission);
    /// @notice The partition count is 0 or more than allowed.
    error StreamRegistry__InvalidPartitions(uint256 partitions, uint256 maxPartitions);
    /// @notice The metadata is longer than allowed.
    error StreamRegistry__MetadataTooLong(uint256 lengthBytes, uint256 maxBytes);
    /// @notice More trackers than one stream may have.
    error StreamRegistry__TooManyTrackers(uint256 count, uint256 maxCount);
    /// @notice The zero address cannot be a tracker.
    error StreamRegistry__InvalidTracker(address tracker);
    /// @notice The same tracker is listed twice.
    error StreamRegistry__DuplicateTracker(address tracker);
    /// @notice The zero address cannot be a user.
    error StreamRegistry__InvalidUser(address user);
    /// @notice Only the owner can revoke or shorten a permission of the owner.
    error StreamRegistry__OwnerProtected(bytes32 streamKey, address owner);
    /// @notice The permission would have expired before it was granted.
    error StreamRegistry__ExpiryInPast(uint64 expiry, uint256 blockTimestamp);
    /// @notice Only Publish and Subscribe can expire; the others are granted with the largest expiry.
    error StreamRegistry__ExpiryNotSupported(Permission permission, uint64 expiry);

    /// @notice Creates the stream `0xcaller/path` and gives the caller every permission on it, forever.
    /// @param trackers the trackers of this stream alone; empty for the deployment's
    function createStream(
        string calldata path,
        string calldata metadata,
        uint8 partitions,
        address[] calldata trackers
    ) external returns (string memory streamId);

    /// @notice Replaces metadata and partition count. Needs the Edit permission.
    function updateStream(string calldata streamId, string calldata metadata, uint8 partitions) external;

    /// @notice Replaces the stream's own trackers; none means the deployment's. Needs the Edit permission.
    function setTrackers(string calldata streamId, address[] calldata trackers) external;

    /// @notice Deletes the stream and every permission on it. Needs the Delete permission.
    function deleteStream(string calldata streamId) external;

    /// @notice Gives a user one permission until `expiry`, and leaves the others as they are. Needs the Grant permission.
    /// @dev An expiry earlier than the present one shortens it; only the owner can shorten the owner's.
    function grantPermission(string calldata streamId, address user, Permission permission, uint64 expiry) external;

    /// @notice Revokes one permission of a user, and leaves the others as they are. Needs the Grant permission.
    /// @dev Public permissions still apply to the user. Only the owner can revoke a permission of the owner.
    function revokePermission(string calldata streamId, address user, Permission permission) external;

    /// @notice Replaces the permissions of several users at once: all of them or, when one is refused, none. Needs the
    /// Grant permission. If a user is listed twice, the last entry counts. Only the owner can revoke the owner's.
    function setPermissions(string calldata streamId, UserPermissions[] calldata users) external;

    /// @notice Replaces the public permissions. Needs the Grant permission.
    function setPublicPermissions(string calldata streamId, uint64 publishExpiry, uint64 subscribeExpiry) external;

    /// @notice One stream; reverts when it does not exist.
    function getStream(string calldata streamId) external view returns (Stream memory);

    /// @notice Whether a stream of this id exists.
    function exists(string calldata streamId) external view returns (bool);

    /// @notice How many streams exist.
    function streamCount() external view returns (uint256);

    /// @notice At most `limit` streams from position `offset`; fewer, or none, past the end.
    /// @dev A deletion moves the last stream into the gap: read all pages at one block number.
    function listStreams(uint256 offset, uint256 limit) external view returns (Stream[] memory);

    /// @notice Whether the user has the permission now, personally or because it is public. False for a stream that
    /// does not exist.
    function hasPermission(string calldata streamId, address user, Permission permission) external view returns (bool);

    /// @notice The user's own permissions, expired or not. Empty for a stream that does not exist.
    function directPermissions(string calldata streamId, address user) external view returns (Permissions memory);

    /// @notice The public permissions, expired or not. Empty for a stream that does not exist.
    function publicPermissions(string calldata streamId) external view returns (Permissions memory);

    /// @notice For each permission the user's own or the public one, whichever lasts longer. Empty for a stream that
    /// does not exist.
    function effectivePermissions(string calldata streamId, address user) external view returns (Permissions memory);

    /// @notice How many streams with this key were deleted so far. A reference by key and generation does
    /// not outlive the stream.
    function generationOf(bytes32 streamKey) external view returns (uint64);

    /// @notice The id of the stream with this key; empty when there is none.
    function streamIdOf(bytes32 streamKey) external view returns (string memory);
}
